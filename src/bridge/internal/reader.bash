# `read` is bash's own with options and with names of variables, and ours with other words: the file `read` decides. What is
# said most is decided here, and shows no more than that in a trace. This is all that programs have of ours in their
# environment: what outlives the session, and its directory, has bash's own.
# shellcheck disable=SC2162
read() {
  # shellcheck disable=SC2199
  if [[ ${1-} == -@([!h-]*|h?*) || " $@" != @(\ |*[!a-zA-Z0-9_\ ]*|*\ [0-9]*) && ! /dev/stdin -ef /dev/null && ! -e ${1-} || ! -r @directory@/read ]]; then
    \builtin read "$@"
  else
    # As a builtin's word, `.` would not know that it is in a condition.
    # shellcheck source=/dev/null
    \. @directory@/read "$@"
  fi
}
\builtin export -f read
