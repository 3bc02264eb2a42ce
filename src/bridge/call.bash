# Calls a command of ours: `$1` is its name, then come its words. The stub goes on from there.
#
# Sourced by a subshell, so that nothing of it stays; a shell that is killed shows no more of it than one line. Descriptor
# 40 is `ask`. `@directory@` stands for the session's directory, quoted.
{
  if ! { \builtin read -t 60 -rN1 __synapse <@directory@/tickets && \builtin printf %s "$__synapse" >&40; }; then
    \builtin printf '%s: too many commands of Synapse at once, or its pipes are gone: try again\n' "$1" >&2
    \builtin exit 126
  fi
} 40<>@directory@/calls
{
  if [[ ! -e /dev/stdin || /dev/stdin -ef /dev/null ]]; then
    \builtin printf '%s\0' "$PWD" none "$#" "$@" >&40
  else
    \builtin printf '%s\0' "$PWD" some "$#" "$@" >&40
  fi
  \builtin exec /bin/bash --norc --noprofile -p @directory@/stub "$__synapse"
} 40>@directory@/slot-"$__synapse-ask"
\builtin exit 126
