#!/bin/bash -p
# A program that calls the command under whose name it lies in the PATH.
\builtin . @directory@/call "${0##*/}" "$@"
