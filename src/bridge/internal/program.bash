#!/bin/bash -p
# A program in the PATH that calls the command of its own name.
# The output of `job:start` is bash text that starts the job.
if [[ ${0##*/} == job:start ]]; then __synapse=$(\builtin . @directory@/call job:start "$@") && \builtin eval "$__synapse"; \builtin exit; fi
\builtin . @directory@/call "${0##*/}" "$@"
