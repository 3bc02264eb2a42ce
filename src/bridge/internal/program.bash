#!/bin/bash -p
# A program that calls the command under whose name it lies in the PATH.
# What `job:start` answers is the text that starts the job.
if [[ ${0##*/} == job:start ]]; then __synapse=$(\builtin . @directory@/call job:start "$@") && \builtin eval "$__synapse"; \builtin exit; fi
\builtin . @directory@/call "${0##*/}" "$@"
