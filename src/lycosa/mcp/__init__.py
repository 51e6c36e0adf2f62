"""A server for programs that speak the Model Context Protocol: assistants look at crawls, and start some if they may.

tools     what can be asked, as functions over a folder of crawls; knows nothing of the protocol
server    the functions as tools of a server on standard input and output (pip install 'lycosa[mcp]')
"""
