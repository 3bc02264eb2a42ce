# `read` is bash's own with options and with names of variables, and ours with other words: the file `read` decides. What is
# said most is decided here. This is all that programs have of ours in their environment: what outlives the session, and its
# directory, has bash's own.
#
# `__synapse_trace` is `-` while a trace may be on, which then shows nothing of this; in a program, it shows how it begins.
# shellcheck disable=SC2162
read() {
  # shellcheck disable=SC2199
  if {
    case $- in *x*) \builtin local - __synapse_untraced=; \builtin set +x ;; esac
    [[ ${1-} == -@([!h-]*|h?*) || " $@" != @(\ |*[!a-zA-Z0-9_\ ]*|*\ [0-9]*) && ! /dev/stdin -ef /dev/null && ! -e ${1-} || ! -r @directory@/read ]]
  } 2>&${__synapse_trace-2}; then
    \builtin read "$@"
  else
    # As a builtin's word, `.` would not know that it is in a condition.
    # shellcheck source=/dev/null
    \. @directory@/read "$@"
  fi
}
\builtin export -f read
