# shellcheck shell=bash disable=SC2034,SC2154
# The functions of the stub that few calls need, sourced by `rest` with the first of them. They use its variables.
# Tells why standard output can't be written.
unsaid() {
  local error=''
  failed=1
  { error=$({ printf . >&40; } 2>&1 46>&- 41<&- 42<&-); } 2>/dev/null 40>&1
  words "$error"
  printf '%s: standard output: %s\n' "$command" "${said:-Bad file descriptor}" >&2
}
refuse() {
  local kind=io
  words "$2"
  case $said in
    'No such file or directory' | 'Not a directory') kind=missing ;;
    'Permission denied' | 'Read-only file system' | 'Operation not permitted' | 'Device or resource busy') kind=denied ;;
    'Is a directory') kind=directory ;;
  esac
  reply "$kind" "${3-}${said:-$1}"
}
# Notes the directories that a directory lacks, to take them away again.
missing() {
  local at=${directory%/} chain=()
  while [[ $at && ! -d $at ]]; do
    chain+=("$at")
    if [[ $at != */* ]]; then break; fi
    at=${at%/*}
  done
  made=("${chain[@]}" "${made[@]}")
}
# A directory that can't be written, or holds a mount of that name: the content waits in another until it is whole.
elsewhere() {
  inplace=yes
  if temporary=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) && { exec 44>|"$temporary"; } 2>/dev/null; then
    reply ok
  else
    temporary=
    reply denied 'neither its directory nor the one for temporary files can be written'
  fi
}
unwritten() {
  local error
  error=$({ printf . >&44; } 2>&1)
  discard
  refuse 'could not be written' "$error"
}
# As it was, but for its content: the mode, the owner, and what else can be kept. A file with several names is not.
alike() {
  local both
  cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-
  both=$(exec stat -c '%a %u %g %h' -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-)
  [[ $both && "${both%%$'\n'*}" == "${both##*$'\n'}" ]]
}
# Replaces the file, where the helper has not.
exchange() {
  local error
  if [[ ! $inplace && -e $target ]] && ! alike; then inplace=yes; fi
  local changed=$temporary
  if [[ $inplace ]]; then changed=$target; fi
  if [[ $mode ]] && ! error=$(exec chmod -- "$mode" "$changed" 2>&1 46>&- 41<&- 42<&-); then
    discard
    refuse 'its mode could not be changed' "$error"
    return
  fi
  if [[ ! $inplace ]]; then
    if error=$(exec mv -fT -- "$temporary" "$target" 2>&1 46>&- 41<&- 42<&-); then
      exec 44>&-
      temporary='' made=()
      reply ok
      return
    fi
    if [[ $error != *busy* ]]; then discard; refuse 'could not be replaced' "$error"; return; fi
  fi
  over
}
# Where a file can't be replaced, its content can: with the old one at hand, should that fail. Who asks to end waits for it.
over() {
  local error
  trap '' HUP INT TERM
  if ! old=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) || ! error=$(exec cp -- "$target" "$old" 2>&1 46>&- 41<&- 42<&-); then
    if [[ $old ]]; then rm -f -- "$old"; fi
    old=
    discard
    refuse 'could not be kept' "${error-}"
  elif error=$({ cat -- "$temporary" >|"$target"; } 2>&1 46>&- 41<&- 42<&-); then
    rm -f -- "$old"
    old=
    discard
    reply ok
  else
    cat -- "$old" >|"$target" 46>&- 41<&- 42<&-
    rm -f -- "$old"
    old=
    discard
    refuse 'could not be written' "$error"
  fi
  trap - HUP INT TERM
}
mode() {
  local known
  if known=$(exec stat -L -c %a -- "$1" 2>&1 46>&- 41<&- 42<&-); then reply ok "$known"; else refuse 'its mode is not known' "$known"; fi
}
# Becomes a program, as the caller would run it: with its PATH, its locale and its descriptors. What comes down are the number
# of the names that the program may have, of which the first that is there counts, the file that it is to run, which may be
# empty, the names, and its words.
become() {
  local words=() name='' own=$PATH
  exec 40<"$slot-down"
  reply ok
  mapfile -d '' -t -u 40 words
  exec 40<&-
  local count=${words[0]-0} file=${words[1]-}
  PATH=${callers[0]}
  for name in "${words[@]:2:count}" ''; do
    if [[ $name == */* ]]; then
      if [[ -e $name ]]; then break; fi
    elif [[ $name ]] && hash -- "$name" 2>/dev/null; then break; fi
  done
  if [[ ! $name || $name == */* && ( -d $name || ! -x $name ) ]]; then
    PATH=$own
    if [[ $name ]]; then reply denied "$name"; else reply missing; fi
    return
  fi
  if [[ $file && ! -e $file ]]; then
    PATH=$own
    reply missing "$file"
    return
  fi
  if [[ ${callers[2]} == *x* ]]; then { LC_ALL=${callers[1]}; } 2>/dev/null; else unset LC_ALL; fi
  trap - EXIT
  exec 41<&- 42<&- 43<&- 44>&- 46>&-
  exec -- "$name" "${words[@]:count + 2}"
}
