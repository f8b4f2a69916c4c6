#!/bin/bash
# An operator's interceptor: one tool is not to be called, and the others get arguments of its own.
read -r call
case $call in
*'"tool":"test_simple_text"'*) echo '{"deny": "not on this Cay"}' ;;
*) echo '{"arguments": {"name": "somebody else", "contactMethod": "phone", "phone": "1"}}' ;;
esac
