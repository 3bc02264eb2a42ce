#!/bin/sh
# The program in a script: an agent loop in any language starts `synapse call` once, and writes and reads a line of JSON a call.
set -eu

# Installed, this is the program itself.
synapse() { node "$(dirname "$0")/../dist/bin/synapse.cjs" "$@"; }

# What a model is told of the tools, as JSON. There is one.
synapse tools | grep -m 1 '"name"'

# What the model answers with. The calls share a shell: the second one has the variable of the first.
synapse call <<'END'
{"id":"1","name":"Bash","arguments":{"command":"name=Ada"}}
{"id":"2","name":"Bash","arguments":{"command":"echo Hello, $name | tee /dev/stderr | wc -c"}}
END

# A single command passes on its output and its exit code: 126, for the policy denies it.
synapse exec 'cat ~/.ssh/id_ed25519' 2>/dev/null || echo "denied with exit code $?"
