"""Tests of the Python runner, which speak to real runner processes through their pipes.

They need the standard library and the packages of the interpreter's template, nothing else:

    cd /opt/cay/runners/python && python3 -m unittest discover -t . -s tests

The exit code is the verdict.
"""
