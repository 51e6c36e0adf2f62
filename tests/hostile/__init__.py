"""A web server that misbehaves on request: what the web does to a crawler, on loopback.

faults       the behaviours, by name
connection   speaks HTTP/1.1, and lets a fault break it
server       a generated web with faults, in a thread, in an event loop or as a process; logs every request
"""
