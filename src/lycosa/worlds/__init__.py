"""Webs whose truth is known: for tests, for the demo, for comparing strategies.

    plan ──▶ graph (who links to whom) ──▶ generated (URLs, HTML, true topics) ──▶ server (HTTP, faults)

A `GeneratedWeb` follows from its `WebPlan` alone: the same plan gives the same pages, byte for byte, in
whatever order they are asked for. The server puts it on loopback under named hosts and misbehaves on request.
"""
