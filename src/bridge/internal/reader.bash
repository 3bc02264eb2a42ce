# bash's own `read` takes options and variable names, Synapse's takes other words: the file `read` decides. The most common
# words are decided here, so that a trace shows no more than that. This function is all that programs have of Synapse in their
# environment. Once the session and its directory are gone, it runs bash's own.
# shellcheck disable=SC2162
read() {
  # shellcheck disable=SC2199
  if [[ ${1-} == -@([!h-]*|h?*) || " $@" != @(\ |*[!a-zA-Z0-9_\ ]*|*\ [0-9]*) && ! /dev/stdin -ef /dev/null && ! -e ${1-} || ! -r @directory@/read ]]; then
    \builtin read "$@"
  else
    # After `builtin`, `.` would not know that it is in a condition.
    # shellcheck source=/dev/null
    \. @directory@/read "$@"
  fi
}
\builtin export -f read
