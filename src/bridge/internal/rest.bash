# shellcheck shell=bash disable=SC2034,SC2154
# Functions of the stub that only some calls need: those that write files, become a program or meet an obstacle. They use the
# stub's variables. Other calls are faster without them.

# Sets `target` to what a path leads to, with a slash in it, since programs take `-` as their input. A name may end in a
# newline, which `$(…)` would drop.
resolve() {
  target=$1
  if [[ -L $1 ]]; then
    IFS= read -r -d '' target < <(readlink -fz -- "$1" 46>&- 41<&- 42<&-)
  elif [[ $1 && $1 != */* ]]; then
    target=./$1
  fi
}
# Sets `beside` to a new name in the directory of `target`.
beside() {
  local base=${target##*/}
  beside=${target%/*}/.${base:0:100}.$RANDOM$RANDOM$$
}
# Finds all obstacles before a new file is created.
begin() {
  local error mask='' one
  target=$1 inplace=''
  if [[ ! $1 ]]; then reply missing 'No such file or directory'; return; fi
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if ! resolve "$1"; then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $1 && ! -f $1 ]]; then reply special 'not a regular file'; return; fi
  # A path through a descriptor (`/dev/fd/…`).
  if [[ -e $1 && ! $1 -ef $target ]]; then reply io 'a file that was deleted'; return; fi
  for one in "${targets[@]}"; do
    if [[ $one == "$target" || $one -ef $target ]]; then reply io "the same file as ${one#./}"; return; fi
  done
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d ${target%/*}/ ]]; then
    missing
    if ! error=$(exec mkdir -p -- "${target%/*}/" 2>&1 46>&- 41<&- 42<&-); then
      discard
      refuse 'its directory could not be made' "$error"
      return
    fi
  fi
  # Nobody else may read it before it has the old file's mode.
  if [[ -e $target || $mode == [0-7]* ]]; then masked; fi
  beside
  temporary=$beside
  set -C
  if { exec 44>"$temporary"; } 2>/dev/null; then
    scraps+=("$temporary")
    reply ok
  elif [[ -e $target ]]; then
    elsewhere
  else
    error=$({ : >"$temporary"; } 2>&1)
    temporary=
    discard
    refuse 'could not be made' "$error"
  fi
  set +C
  if [[ $mask ]]; then umask "$mask"; fi
}
# Sets `mask` to the umask, and the umask to 077. Reading through a pipe needs no process.
masked() {
  exec 40<>"$slot-down"
  umask >&40
  IFS= read -r -u 40 mask
  exec 40<&-
  umask 077
}
# Takes short content, which comes in the dialog. It comes even if no file could be begun: descriptor 44 may then be the
# caller's.
put() {
  if [[ ! $temporary ]]; then
    reply io 'it was not begun'
  elif printf %s "$1" >&44; then reply ok; else unwritten; fi
} 2>/dev/null
# Prepares the change once the new content is complete.
stage() {
  if [[ ! $temporary ]]; then reply io 'it was not begun'; return; fi
  exec 44>&-
  member "$temporary" ''
  temporary=
}
member() {
  targets+=("$target") temporaries+=("$1") modes+=("$mode") inplaces+=("$inplace") backups+=("$2")
  reply ok
}
# Prepares the removal of a file.
doom() {
  local error
  target=$1 mode='' inplace=''
  if [[ $1 != */* ]]; then target=./$1; fi
  if [[ -d $1 && ! -L $1 ]]; then
    reply directory 'Is a directory'
  elif [[ -L $1 || -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif keep; then
    member '' "$kept"
  else
    refuse 'could not be removed' "$error"
  fi
}
# Keeps the old state of the file `target` in the file `kept`: another link to it or a copy. The copy lies elsewhere if the
# file is overwritten in place.
keep() {
  if [[ $inplace ]]; then
    error=
    kept=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) || return
  else
    beside
    kept=$beside
  fi
  scraps+=("$kept")
  if [[ ! $inplace ]] && error=$(exec ln -- "$target" "$kept" 2>&1 46>&- 41<&- 42<&-); then return; fi
  error=$(exec cp -p -- "$target" "$kept" 2>&1 46>&- 41<&- 42<&-)
}
# Applies all prepared changes or none. No signal ends it meanwhile. On failure, `index` is the file that failed.
apply() {
  local index error='' lost=''
  for index in "${!targets[@]}"; do
    if prepare; then continue; fi
    refuse 'could not be prepared' "$error" "$index/"
    discard
    return
  done
  trap '' HUP INT TERM
  for index in "${!targets[@]}"; do
    if change; then continue; fi
    undo
    if [[ $lost ]]; then
      words "$error"
      reply partial "$index/$said; what was changed before is restored, but not $lost"
    else
      refuse 'could not be written' "$error" "$index/"
    fi
    discard
    trap - HUP INT TERM
    return
  done
  made=()
  discard
  reply ok
  trap - HUP INT TERM
}
# Gives the new file the old one's mode, owner and other attributes. If that fails, or the file has several names, it is
# overwritten in place. Only a single file that is replaced at once needs no copy.
prepare() {
  local new=${temporaries[index]}
  target=${targets[index]} inplace=${inplaces[index]}
  if [[ ! $new ]]; then return; fi
  if [[ -e $target && ! $inplace ]] && ! alike "$new"; then inplace=yes; fi
  if [[ ${modes[index]} && ! $inplace ]]; then error=$(exec chmod -- "${modes[index]}" "$new" 2>&1 46>&- 41<&- 42<&-) || return; fi
  if [[ -e $target ]] && [[ $inplace || ${#targets[@]} -gt 1 ]]; then
    keep || return
    backups[index]=$kept
  fi
  inplaces[index]=$inplace
}
alike() {
  local both
  cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$1" 2>/dev/null 46>&- 41<&- 42<&-
  both=$(exec stat -c '%a %u %g %h' -- "$target" "$1" 2>/dev/null 46>&- 41<&- 42<&-)
  [[ $both && "${both%%$'\n'*}" == "${both##*$'\n'}" ]]
}
change() {
  local new=${temporaries[index]}
  target=${targets[index]}
  if [[ ! $new ]]; then
    # shellcheck disable=SC2217
    error=$(exec rm -- "$target" 2>&1 46>&- 41<&- 42<&- </dev/null)
    return
  fi
  if [[ ! ${inplaces[index]} ]]; then
    if error=$(exec mv -fT -- "$new" "$target" 2>&1 46>&- 41<&- 42<&-); then return; fi
    # A mount can't be replaced.
    if [[ $error != *busy* ]]; then return 1; fi
    inplace=yes
    keep || return
    backups[index]=$kept inplaces[index]=yes
  fi
  error=$({ cat -- "$new" >|"$target"; } 2>&1 46>&- 41<&- 42<&-) || return
  if [[ ${modes[index]} ]]; then error=$(exec chmod -- "${modes[index]}" "$target" 2>&1 46>&- 41<&- 42<&-); fi
}
# Restores all changed files. If that fails for one, `lost` names it, and its copy stays.
undo() {
  local at backup
  for (( at = 0; at <= index; at++ )); do
    target=${targets[at]} backup=${backups[at]}
    if [[ ${inplaces[at]} ]]; then
      { cat -- "$backup" >|"$target" && chmod --reference="$backup" -- "$target"; } 2>/dev/null 46>&- 41<&- 42<&- && continue
    elif (( at == index )); then
      continue
    elif [[ ! $backup ]]; then
      rm -f -- "$target" 2>/dev/null 46>&- 41<&- 42<&- && continue
    else
      mv -fT -- "$backup" "$target" 2>/dev/null 46>&- 41<&- 42<&- && continue
    fi
    lost=$target scraps=()
    if [[ $backup ]]; then lost+=" (its old content is in $backup)"; fi
  done
}
# Replies with the link by which a relative path leads out of the current directory.
within() {
  local at='' rest=$1 home real
  while [[ $rest ]]; do
    at+=${rest%%/*}
    if [[ -L $at ]]; then
      IFS= read -r -d '' home < <(readlink -fz . 46>&- 41<&- 42<&-)
      IFS= read -r -d '' real < <(readlink -mz -- "$at" 46>&- 41<&- 42<&-)
      if [[ $real/ != "${home%/}"/* ]]; then
        reply ok "$at"
        return
      fi
    fi
    if [[ $rest != */* ]]; then break; fi
    rest=${rest#*/} at+=/
  done
  reply ok
}
# Prints why standard output can't be written.
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
# Notes the missing parents of a file, to remove them again on failure.
missing() {
  local at=${target%/*} chain=()
  while [[ $at && ! -d $at ]]; do
    chain+=("$at")
    if [[ $at != */* ]]; then break; fi
    at=${at%/*}
  done
  made=("${chain[@]}" "${made[@]}")
}
# Used if the directory can't be written or the name is a mount: the content waits in another directory until it is
# complete.
elsewhere() {
  inplace=yes
  if temporary=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) && { exec 44>|"$temporary"; } 2>/dev/null; then
    scraps+=("$temporary")
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
mode() {
  local known
  if known=$(exec stat -L -c %a -- "$1" 2>&1 46>&- 41<&- 42<&-); then reply ok "$known"; else refuse 'its mode is not known' "$known"; fi
}
# Becomes a program, with the caller's PATH, locale and descriptors. Reads from `down`: the number of the program's possible
# names, the file that it is to run (or an empty word), the names, and the arguments. The first name found counts.
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
