/**
 * The bash of the bridge, made of the `.bash` and `.pl` files beside this one: change those, and then run
 * `npx vitest run test/bridge/BashText.test.ts -u`.
 *
 * @since 0.1.0
 */

/**
 * The file `call.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const call = `__synapse= __synapse_forged=0
{
  {
    while \\builtin read -t 60 -rN1 __synapse && [[ ! -p @directory@/slot-"$__synapse"-ask ]]; do
      __synapse= __synapse_forged=$((__synapse_forged + 1))
      (( __synapse_forged < 100000 )) || \\builtin break
    done <@directory@/tickets
    [[ $__synapse ]] && \\builtin printf %s "$__synapse" >&46
  } 46<>@directory@/calls || __synapse=
} 2>/dev/null
if [[ ! $__synapse ]]; then
  if [[ ! -p @directory@/calls || ! -p @directory@/tickets ]]; then
    \\builtin printf '%s: not run: a command has deleted the pipes of Synapse; the next call has new ones\\n' "$1" >&2
  elif (( __synapse_forged )); then
    \\builtin printf '%s: not run: a command writes into the pipes of Synapse: try again when it has ended\\n' "$1" >&2
  elif { { :; } 46</dev/null; } 2>/dev/null; then
    \\builtin printf '%s: not run: too many commands of Synapse at once: try again\\n' "$1" >&2
  else
    \\builtin printf '%s: not run: the shell may open too few files (ulimit -n), 64 are enough: restart=true starts a new shell\\n' "$1" >&2
  fi
  \\builtin exit 126
fi
{
  if [[ ! -e /dev/stdin || /dev/stdin -ef /dev/null ]]; then __synapse_input=none; else __synapse_input=some; fi
  __synapse_output=away __synapse_pair=0
  while [[ -p @directory@/\${__synapse_pair}o ]]; do
    if [[ /dev/stdout -ef @directory@/\${__synapse_pair}o || /dev/stdout -ef @directory@/\${__synapse_pair}e ]]; then
      __synapse_output=shown
      \\builtin break
    fi
    __synapse_pair=$((__synapse_pair + 1))
  done
  __synapse_words=$*
  if (( \${#__synapse_words} < 1000000 )); then
    \\builtin trap '' PIPE
    \\builtin ulimit -SR >&46
    \\builtin printf '%s\\0' "" "$PWD" "$__synapse_input" "$__synapse_output" "$#" "$@" >&46
  else
    ( \\builtin printf '%s\\0' "" "$PWD" "$__synapse_input" "$__synapse_output" "$#" "$@" >&46 )
  fi 2>/dev/null || {
    \\builtin printf '%s: not run: its words are too long, more than 64 MiB at once: use a pipe, a here-document or a file\\n' "$1" >&2
    \\builtin exit 1
  }
  \\builtin trap - PIPE
  if [[ $1 == @(edit|write) && -x @directory@/writer && ! \${PERL5OPT+set}\${PERL_UNICODE+set}\${PERLIO+set} && \${LC_ALL@a} != *r* ]]; then
    LC_ALL=C \\builtin exec @directory@/writer -f @directory@/writer.pl "$__synapse" "$1" "\${LC_ALL-}" "\${LC_ALL@a}"
  fi
  __synapse_words=(/bin/bash --norc --noprofile -p @directory@/stub "$__synapse" "$1" "\${LC_ALL-}" "\${LC_ALL@a}")
  if [[ \${LC_ALL@a} != *r* ]]; then LC_ALL=C \\builtin exec "\${__synapse_words[@]}"; fi
  \\builtin exec "\${__synapse_words[@]}"
} 46>@directory@/slot-"$__synapse-ask"
\\builtin exit 126
`

/**
 * The file `files.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const files = `own='' begun=''
resolve() {
  target=$1
  if [[ -L $1 ]]; then
    IFS= read -r -d '' target < <(readlink -fz -- "$1" 46>&- 41<&- 42<&-)
  elif [[ $1 && $1 != */* ]]; then
    target=./$1
  fi
}
identify() {
  local path directory lines=() known=() asked=() line=0 at place itself
  for path in "$@"; do
    resolve "$path"
    directory=.
    if [[ $target == */* ]]; then directory=\${target%/*}/; fi
    known+=("\${target##*/}")
    if [[ -d $directory ]]; then known+=(yes) asked+=("$directory"); else known+=(''); fi
    if [[ -e $target ]]; then known+=(yes) asked+=("$target"); else known+=(''); fi
  done
  if (( \${#asked[@]} )); then
    exec 40< <(exec stat -L -c '%d:%i %u:%g:%h' -- "\${asked[@]}" 2>/dev/null 46>&- 41<&- 42<&-)
    if [[ $looks ]]; then peek "$1"; fi
    mapfile -t -u 40 lines
    exec 40<&-
  fi
  if (( \${#lines[@]} != \${#asked[@]} )); then
    for path in "$@"; do reply io 'it was changed meanwhile'; done
    return
  fi
  for (( at = 0; at < \${#known[@]}; at += 3 )); do
    place='' itself=''
    if [[ \${known[at + 1]} ]]; then place=\${lines[line]%% *}/\${known[at]}; line=$((line + 1)); fi
    if [[ \${known[at + 2]} ]]; then
      if [[ \${lines[line]} != *:1 ]]; then itself=\${lines[line]%% *}; fi
      if [[ $# == 1 && \${lines[line]} == *" $EUID:\${GROUPS[0]}:1" ]]; then own=$1; fi
      line=$((line + 1))
    fi
    reply ok "$place/$itself"
  done
}
look() {
  local looks=yes seen='' text
  identify "$1"
  if [[ $seen ]]; then reply text "$text"; else reply ok; fi
}
peek() {
  if [[ -f $1 && -r $1 ]] && ! endless "$1" regular && { exec 43<"$1"; } 2>/dev/null; then
    if ! IFS= read -r -d '' -n 16000 -u 43 text 2>/dev/null && [[ \${text+read} ]]; then seen=yes; fi
    exec 43<&-
  fi
}
begin() {
  local several=\${3-}
  target=$1 inplace='' begun=$1
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if ! resolve "$1"; then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $1 && ! -f $1 ]]; then reply special 'not a regular file'; return; fi
  if [[ -e $1 && ! $1 -ef $target ]]; then reply io 'a file that was deleted'; return; fi
  local error
  directory=./
  if [[ $target == */* ]]; then directory=\${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    missing
    if ! error=$(exec mkdir -p -- "$directory" 2>&1 46>&- 41<&- 42<&-); then
      if [[ ! $several ]]; then discard; fi
      refuse 'its directory could not be made' "$error"
      return
    fi
  fi
  if [[ $several ]]; then
    if room "$directory"; then
      temporary=$room/new/\${target##*/}
      if error=$({ : >"$temporary"; } 2>&1) && { exec 44>"$temporary"; } 2>/dev/null; then reply ok; return; fi
    fi
    temporary=
    if [[ -e $target ]]; then elsewhere; else refuse 'could not be made' "$error"; fi
    return
  fi
  local mask
  if [[ -e $target || $mode == [0-7]* ]]; then masked; fi
  local base=\${target##*/}
  temporary=$directory/.\${base:0:100}.$RANDOM$RANDOM$$
  set -C
  if ! { exec 44>"$temporary"; } 2>/dev/null; then
    if [[ ! -e $target ]]; then
      error=$({ : >"$temporary"; } 2>&1)
      temporary=
      discard
      refuse 'could not be made' "$error"
    else
      elsewhere
    fi
  else
    reply ok
  fi
  set +C
  if [[ $mask ]]; then umask "$mask"; fi
}
masked() {
  exec 40<>"$slot-down"
  umask >&40
  IFS= read -r -u 40 mask
  exec 40<&-
  umask 077
}
put() {
  if [[ ! $temporary ]]; then
    reply io 'it was not begun'
  elif printf %s "$1" >&44; then reply ok; else unwritten; fi
} 2>/dev/null
commit() {
  if [[ ! $temporary ]]; then reply io 'it could not be written'; return; fi
  exchange
}
`

/**
 * The file `functions.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const functions = `__synapse_call() ( { if [[ \${POSIXLY_CORRECT+\${POSIXLY_CORRECT@a}} != *r* ]]; then __synapse=\${POSIXLY_CORRECT+=$POSIXLY_CORRECT}; POSIXLY_CORRECT=; \\unset -f builtin; if [[ $__synapse ]]; then POSIXLY_CORRECT=\${__synapse#=}; else \\unset -v POSIXLY_CORRECT; fi; fi; \\builtin set +vxeuCET; \\builtin shopt -u expand_aliases; } 2>/dev/null; \\builtin . @directory@/call "$@" )
`

/**
 * The file `program.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const program = `#!/bin/bash -p
\\builtin . @directory@/call "\${0##*/}" "$@"
`

/**
 * The file `read.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const read = `{ \\unset -f builtin; \\builtin local - __synapse_own='' __synapse_word='' __synapse_text=''; \\builtin set +vxeuET; } 2>/dev/null
case \${1-} in -h | --help | --offset* | --limit*) __synapse_own=yes ;; esac
if [[ ! $__synapse_own && $* != -- ]]; then
  if [[ \${FUNCNAME[2]-} == source && \${BASH_SOURCE[2]} == @directory@/* ]]; then
    if [[ \${1-} != -- && /dev/stdin -ef /dev/null ]]; then
      ( \\builtin set -e; ((0)); \\builtin exit 0 )
      if (( $? )) || ! (
        before='(^|[;&|({!\`[:cntrl:]]|[[:space:]](do|then|else|elif|if|time)[[:space:]])'
        [[ $(<"\${BASH_SOURCE[2]}") =~ \${before}[[:space:]]*(while|until)[[:space:]] ]]
      ); then __synapse_own=yes; fi
    elif [[ \${1-} != -- || -e \${2-} && ! /dev/stdin -ef /dev/null ]]; then
      \\builtin read -rd '' __synapse_text <"\${BASH_SOURCE[2]}"
      if [[ $__synapse_text == *read+([[:blank:]])?(--+([[:blank:]]))?(\\")[\\$\\\`]* ]]; then __synapse_own=unclear; fi
    fi
  fi
  if [[ \${1-} == -- ]]; then __synapse_text=2; else __synapse_text=1; fi
  for __synapse_word in "\${@:__synapse_text}"; do
    if [[ $__synapse_word != [a-zA-Z_]* || \${#__synapse_word} -gt 4095 || \${__synapse_word%%\\[*\\]} == *[!a-zA-Z0-9_]* ]]; then
      __synapse_own=yes
    fi
  done
fi
case $__synapse_own in
  yes) __SYNAPSE_CALL__ ;;
  unclear)
    if [[ $1 == -- ]]; then \\builtin shift; fi
    if [[ -d $1 ]]; then
      __synapse_text="directory, or a variable? \\"ls ./$1\\" lists the directory"
    else
      __synapse_text="file, or a variable? \\"read ./$1\\" shows the file"
    fi
    \\builtin printf 'read: %s: the %s, "builtin read %s" sets the variable\\n' "$1" "$__synapse_text" "$1" >&2
    \\builtin return 1 ;;
  *) \\builtin read "$@" ;;
esac
`

/**
 * The file `reader.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const reader = `read() {
  if [[ \${1-} == -@([!h-]*|h?*) || " $@" != @(\\ |*[!a-zA-Z0-9_\\ ]*|*\\ [0-9]*) && ! /dev/stdin -ef /dev/null && ! -e \${1-} || ! -r @directory@/read ]]; then
    \\builtin read "$@"
  else
    \\. @directory@/read "$@"
  fi
}
\\builtin export -f read
`

/**
 * The file `rest.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const rest = `unsaid() {
  local error=''
  failed=1
  { error=$({ printf . >&40; } 2>&1 46>&- 41<&- 42<&-); } 2>/dev/null 40>&1
  words "$error"
  printf '%s: standard output: %s\\n' "$command" "\${said:-Bad file descriptor}" >&2
}
refuse() {
  local kind=io
  words "$2"
  case $said in
    'No such file or directory' | 'Not a directory') kind=missing ;;
    'Permission denied' | 'Read-only file system' | 'Operation not permitted' | 'Device or resource busy') kind=denied ;;
    'Is a directory') kind=directory ;;
  esac
  reply "$kind" "\${3-}\${said:-$1}"
}
missing() {
  local at=\${directory%/} chain=()
  while [[ $at && ! -d $at ]]; do
    chain+=("$at")
    if [[ $at != */* ]]; then break; fi
    at=\${at%/*}
  done
  made=("\${chain[@]}" "\${made[@]}")
}
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
alike() {
  local both
  if cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&- &&
    [[ $own && $begun == "$own" ]]; then return; fi
  both=$(exec stat -c '%a %u %g %h' -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-)
  [[ $both && "\${both%%$'\\n'*}" == "\${both##*$'\\n'}" ]]
}
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
over() {
  local error
  trap '' HUP INT TERM
  if ! old=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) || ! error=$(exec cp -- "$target" "$old" 2>&1 46>&- 41<&- 42<&-); then
    if [[ $old ]]; then rm -f -- "$old"; fi
    old=
    discard
    refuse 'could not be kept' "\${error-}"
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
become() {
  local words=() name='' own=$PATH
  exec 40<"$slot-down"
  reply ok
  mapfile -d '' -t -u 40 words
  exec 40<&-
  local count=\${words[0]-0} file=\${words[1]-}
  PATH=\${callers[0]}
  for name in "\${words[@]:2:count}" ''; do
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
  if [[ \${callers[2]} == *x* ]]; then { LC_ALL=\${callers[1]}; } 2>/dev/null; else unset LC_ALL; fi
  trap - EXIT
  exec 41<&- 42<&- 43<&- 44>&- 46>&-
  exec -- "$name" "\${words[@]:count + 2}"
}
`

/**
 * The file `several.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const several = `targets=() temporaries=() modes=() inplaces=() backups=()
declare -gA members=()
kept=()
room() {
  room=\${rooms[$1]-}
  if [[ $room ]]; then return; fi
  rooms[$1]=\${1%/}/.synapse.$RANDOM$RANDOM$$
  if error=$(exec mkdir -m 700 -- "\${rooms[$1]}" "\${rooms[$1]}/new" "\${rooms[$1]}/old" 2>&1 46>&- 41<&- 42<&-); then
    room=\${rooms[$1]}
  else
    rooms[$1]=
    return 1
  fi
}
member() {
  members[$1]+="\${#targets[@]} "
  targets+=("$2") temporaries+=("$3") modes+=("$4") inplaces+=("$5") backups+=('')
  reply ok
}
stage() {
  if [[ ! $temporary ]]; then reply io 'it was not begun'; return; fi
  exec 44>&-
  if [[ $inplace ]]; then kept+=("$temporary"); fi
  member "$directory" "$target" "$temporary" "$mode" "$inplace"
  temporary=
}
doom() {
  target=$1
  if [[ $1 != */* ]]; then target=./$1; fi
  if [[ -d $1 && ! -L $1 ]]; then
    reply directory 'Is a directory'
  elif [[ -L $1 || -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif room "\${target%/*}/"; then
    member "\${target%/*}/" "$target" '' '' ''
  else
    refuse 'could not be removed' "$error"
  fi
}
within() {
  local at='' rest=$1 home real
  while [[ $rest ]]; do
    at+=\${rest%%/*}
    if [[ -L $at ]]; then
      IFS= read -r -d '' home < <(readlink -fz . 46>&- 41<&- 42<&-)
      IFS= read -r -d '' real < <(readlink -mz -- "$at" 46>&- 41<&- 42<&-)
      if [[ $real/ != "\${home%/}"/* ]]; then
        reply ok "$at"
        return
      fi
    fi
    if [[ $rest != */* ]]; then break; fi
    rest=\${rest#*/} at+=/
  done
  reply ok
}
apply() {
  local directory index error=''
  for directory in "\${!members[@]}"; do
    if prepare; then continue; fi
    refuse 'could not be prepared' "$error" "$index/"
    discard
    return
  done
  trap '' HUP INT TERM
  if overwrite && replace; then
    made=()
    discard
    reply ok
  else
    undo
    if [[ $lost ]]; then
      words "$error"
      reply partial "$index/$said; what was changed before is restored, but not $lost"
    else
      refuse 'could not be written' "$error" "$index/"
    fi
    discard
  fi
  trap - HUP INT TERM
}
prepare() {
  local numbers=() theirs=() ours=() lines=() number=0 name
  for index in \${members[$directory]}; do
    if [[ -e \${targets[index]} && \${temporaries[index]} && ! \${inplaces[index]} ]]; then
      numbers+=("$index") theirs+=("\${targets[index]}") ours+=("\${temporaries[index]}")
    fi
  done
  if (( \${#numbers[@]} )); then
    cp --attributes-only --preserve=mode,ownership,xattr -t "\${rooms[$directory]}/new" -- "\${theirs[@]}" 2>/dev/null 46>&- 41<&- 42<&-
    mapfile -t lines < <(stat -c '%a %u %g %h' -- "\${theirs[@]}" "\${ours[@]}" 2>/dev/null 46>&- 41<&- 42<&-)
    index=\${numbers[0]}
    if (( \${#lines[@]} != 2 * \${#numbers[@]} )); then error=': it was changed meanwhile'; return 1; fi
    for number in "\${!numbers[@]}"; do
      if [[ \${lines[number]} != "\${lines[number + \${#numbers[@]}]}" ]]; then inplaces[numbers[number]]=yes; fi
    done
  fi
  theirs=()
  for index in \${members[$directory]}; do
    if [[ \${modes[index]} && ! \${inplaces[index]} ]]; then
      error=$(exec chmod -- "\${modes[index]}" "\${temporaries[index]}" 2>&1 46>&- 41<&- 42<&-) || return
    fi
    if [[ -e \${targets[index]} ]]; then
      if [[ \${rooms[$directory]} ]]; then backups[index]=\${rooms[$directory]}/old/\${targets[index]##*/}; fi
      if [[ ! \${inplaces[index]} ]]; then theirs+=("\${targets[index]}"); fi
    fi
  done
  if (( \${#theirs[@]} )); then ln -t "\${rooms[$directory]}/old" -- "\${theirs[@]}" 2>/dev/null 46>&- 41<&- 42<&-; fi
  for index in \${members[$directory]}; do
    if [[ -e \${targets[index]} && ! -e \${backups[index]} ]]; then
      if [[ ! \${backups[index]} ]]; then
        backups[index]=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-)
        kept+=("\${backups[index]}")
      fi
      error=$(exec cp -p -- "\${targets[index]}" "\${backups[index]}" 2>&1 46>&- 41<&- 42<&-) || return
    fi
  done
}
fill() {
  touched[index]=yes
  error=$({ cat -- "\${temporaries[index]}" >|"\${targets[index]}"; } 2>&1 46>&- 41<&- 42<&-) || return
  if [[ \${modes[index]} ]]; then error=$(exec chmod -- "\${modes[index]}" "\${targets[index]}" 2>&1 46>&- 41<&- 42<&-); fi
}
overwrite() {
  touched=()
  for index in "\${!targets[@]}"; do
    if [[ \${inplaces[index]} ]]; then fill || return; fi
  done
}
replace() {
  local directory ours doomed
  for directory in "\${!members[@]}"; do
    ours=()
    for index in \${members[$directory]}; do
      if [[ \${temporaries[index]} && ! \${inplaces[index]} ]]; then ours+=("\${temporaries[index]}"); fi
    done
    if (( ! \${#ours[@]} )) || mv -f -t "$directory" -- "\${ours[@]}" 2>/dev/null 46>&- 41<&- 42<&-; then continue; fi
    for index in \${members[$directory]}; do
      if [[ ! \${temporaries[index]} || \${inplaces[index]} || ! -e \${temporaries[index]} ]]; then continue; fi
      if error=$(exec mv -fT -- "\${temporaries[index]}" "\${targets[index]}" 2>&1 46>&- 41<&- 42<&-); then continue; fi
      if [[ $error != *busy* ]]; then return 1; fi
      inplaces[index]=yes
      rm -f -- "\${backups[index]}"
      error=$(exec cp -p -- "\${targets[index]}" "\${backups[index]}" 2>&1 46>&- 41<&- 42<&-) && fill || return
    done
  done
  for index in "\${!targets[@]}"; do
    if [[ ! \${temporaries[index]} ]]; then
      error=$(exec rm -- "\${targets[index]}" 2>&1 46>&- 41<&- 42<&- </dev/null) || return
    fi
  done
}
undo() {
  local index target backup
  lost=
  for index in "\${!targets[@]}"; do
    target=\${targets[index]} backup=\${backups[index]}
    if [[ \${touched[index]-} ]]; then
      { cat -- "$backup" >|"$target" && chmod --reference="$backup" -- "$target"; } 2>/dev/null 46>&- 41<&- 42<&- && continue
    elif [[ \${temporaries[index]} && ( \${inplaces[index]} || -e \${temporaries[index]} ) || ! \${temporaries[index]} && -e $target ]]; then
      continue
    elif [[ ! $backup ]]; then
      rm -f -- "$target" 2>/dev/null 46>&- 41<&- 42<&- && continue
    else
      mv -fT -- "$backup" "$target" 2>/dev/null 46>&- 41<&- 42<&- && continue
    fi
    lost=$target
    if [[ $backup ]]; then lost+=" (its old content is in $backup)"; fi
    kept=() rooms=()
  done
}
`

/**
 * The file `stub.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const stub = `callers=("$PATH" "\${3-}" "\${4-}")
PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin
export LC_ALL=C
slot=@directory@/slot-$1 command=\${2-}
exec 41<"$slot-answer" || exit
{ exec 42<&0; } 2>/dev/null || exec 42</dev/null
old='' failed=0
temporary='' target='' directory='' inplace='' mode='' file='' poured='' pumps=()
made=() kept=()
declare -A rooms=()
what='' to='' text='' path='' skip='' regular='' code='' count='' room='' looks=''
pending=("\${@:5}")
next() {
  if (( \${#pending[@]} )); then
    printf -v "$1" %s "\${pending[0]}"
    pending=("\${pending[@]:1}")
  else
    IFS= read -r -d '' -u 41 "$1"
  fi
}
take() {
  if (( \${#pending[@]} )); then next text; else IFS= read -r -N "$1" -u 41 text; fi
}
reply() { printf '%s\\0' "$1" "\${2-}" >&46; }
words() { said=\${1%%$'\\n'*}; said=\${said##*: }; }
rest() { . @directory@/rest && "$@"; }
unsaid() { rest unsaid; }
refuse() { rest refuse "$@"; }
missing() { rest missing; }
elsewhere() { rest elsewhere; }
unwritten() { rest unwritten; }
exchange() { rest exchange; }
mode() { rest mode "$@"; }
become() { rest become; }
files() { . @directory@/files && "$@"; }
identify() { files identify "$@"; }
look() { files look "$@"; }
begin() { files begin "$@"; }
if [[ \${2-} == @(edit|write) ]]; then . @directory@/files; fi
discard() {
  if [[ $temporary ]]; then
    exec 44>&-
    rm -f -- "$temporary"
    temporary=
  fi
  if (( \${#rooms[@]} + \${#kept[@]} )); then
    rm -rf -- "\${rooms[@]}" "\${kept[@]}" 46>&- 41<&- 42<&-
    rooms=() kept=()
  fi
  if (( \${#made[@]} )); then
    rmdir -- "\${made[@]}" 2>/dev/null 46>&- 41<&- 42<&-
    made=()
  fi
}
leave() {
  trap '' HUP INT TERM
  if [[ $old ]]; then
    cat -- "$old" >|"$target" 46>&- 41<&- 42<&-
    rm -f -- "$old"
  fi
  if (( \${#pumps[@]} )); then kill "\${pumps[@]}" 2>/dev/null; fi
  discard
}
trap leave EXIT
endless() {
  if [[ $1 -ef /proc/kmsg || \${1##*/} == trace_pipe ]]; then return 0; fi
  if [[ ! -e $1 || -f $1 ]]; then return 1; fi
  if [[ $2 ]]; then return 0; fi
  [[ ! -S $1 && ( $1 != @(/dev/stdin|/dev/fd/*|/proc/self/fd/*) || -c $1 && ! $1 -ef /dev/null ) ]]
}
open() {
  local text
  if [[ -d $1 ]]; then
    reply directory 'Is a directory'
  elif endless "$1" "$3"; then
    reply special 'not a regular file'
  elif [[ -r $1 ]] && { exec 43<"$1"; } 2>/dev/null; then
    if [[ $2 == 0 && -f $1 ]] && ! IFS= read -r -d '' -n 16000 -u 43 text 2>/dev/null && [[ \${text+read} ]]; then
      exec 43<&-
      reply text "$text"
      return
    fi
    if [[ $2 == 0 && -f $1 ]]; then { exec 43<"$1"; } 2>/dev/null; fi
    if (( $2 )); then
      tail -n "+$(($2 + 1))" <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    else
      cat <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    fi
    file=$! pumps+=($!)
    exec 43<&-
    reply ok
  else
    refuse 'could not be opened' "$(exec cat -- "$1" 2>&1 >/dev/null 46>&- 41<&- 42<&-)"
  fi
}
say() {
  if (( $1 == 1 )); then
    { printf %s "$2"; } 2>/dev/null || unsaid
  else
    printf %s "$2" >&"$1" 2>/dev/null || failed=1
  fi
}
pour() {
  exec 40<"$slot-down"
  if (( $1 == 44 )); then
    cat <&40 >&44 2>/dev/null 46>&- 41<&- 42<&- &
  else
    exec -a "$command" cat <&40 >&"$1" 46>&- 41<&- 42<&- 44>&- &
  fi
  poured=$! pumps+=($!)
  exec 40<&-
  reply ok
}
written() {
  if wait "$poured" 2>/dev/null; then reply ok; else unwritten; fi
}
several() {
  if [[ ! \${isSeveral-} ]]; then
    isSeveral=yes
    . @directory@/several
  fi
}
while next what; do
  case $what in
    say) next to && next text && say "$to" "$text" ;;
    pour) next to && pour "$to" ;;
    poured) wait "$poured" 2>/dev/null; reply ok "$?" ;;
    input) cat <&42 >"$slot-input" 46>&- 41<&- 42<&- & pumps+=($!) ;;
    open) next path && next skip && next regular && open "$path" "$skip" "$regular" ;;
    close) wait "$file" 2>/dev/null; reply ok "$?" ;;
    identify)
      next count && paths=() &&
        while (( count-- )); do next path && paths+=("$path"); done
      identify "\${paths[@]}" ;;
    look) next path && look "$path" ;;
    begin) next path && next mode && begin "$path" ;;
    another) next path && next mode && several && begin "$path" "$mode" yes ;;
    doom) next path && several && doom "$path" ;;
    within) next path && several && within "$path" ;;
    stage) stage ;;
    apply) apply ;;
    put) next count && take "$count" && put "$text" ;;
    written) written ;;
    commit) commit ;;
    discard) discard; reply ok ;;
    mode) next path && mode "$path" ;;
    become) become ;;
    exit) next code && exit "$((code ? code : failed))" ;;
  esac
done
exit 1
`

/**
 * The file `writer.pl`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const writer = `my ($slot, $command, $locale, $attributes) = @ARGV;
my ($directory) = $0 =~ m{(.*)/}s;
my ($listing, $access) = (@numbers@);
my ($buffer, $failed, $temporary) = ('', 0, undef);
my ($ask, $answer);
sub hand {
  exec '/bin/bash', '--norc', '--noprofile', '-p', "$directory/stub", $slot, $command, $locale, $attributes, @_;
  exit 1;
}
$^F = 46;
open $ask, '>&=', 46 or exit 1;
$^F = 2;
open $answer, '<', "$directory/slot-$slot-answer" or exit 1;
if (fileno $answer < 3 || 8 != length pack 'p', '' or $< != $> || $( != $)) { close $answer; hand() }
sub more {
  my $size = sysread $answer, $buffer, 65536, length $buffer;
  $size or defined $size || $! != 4 and exit 1;
}
sub word {
  my $at;
  more() while ($at = index $buffer, "\\0") < 0;
  my $word = substr $buffer, 0, $at;
  substr($buffer, 0, $at + 1) = '';
  $word;
}
sub rest {
  more() while length $buffer && "\\0" ne substr $buffer, -1;
  my @words = split /\\0/, $buffer, -1;
  pop @words;
  @words;
}
sub put {
  my ($to, $text) = @_;
  my $at = 0;
  while ($at < length $text) {
    my $size = syswrite $to, $text, length($text) - $at, $at;
    if (defined $size) { $at += $size } elsif ($! != 4) { last }
  }
  $at;
}
sub bare { my $size = syscall $listing, $_[0], 0, 0; $size == 0 || $size < 0 && $! == 95 }
sub split_path {
  my ($directory, $name) = $_[0] =~ m{^(.*/)?([^/]+)\\z}s or return;
  return if $_[0] =~ m{^/proc/|\\btrace_pipe\\z} || -l $_[0];
  (defined $directory ? $directory : './', $name);
}
sub identity {
  my ($directory, $name) = split_path($_[0]) or return;
  my @place = stat $directory or return;
  my @file = stat $_[0];
  return if @file && ($file[3] != 1 || ($file[2] & 0170000) != 0100000);
  "ok\\0$place[0]:$place[1]/$name/\\0";
}
sub content {
  sysopen my $file, $_[0], 0 or return "ok\\0\\0";
  my ($text, $size) = ('', 1);
  while ($size && length $text < 16000) { $size = sysread $file, $text, 16000 - length $text, length $text }
  defined $size && $size == 0 && index($text, "\\0") < 0 ? "text\\0$text\\0" : "ok\\0\\0";
}
sub gone {
  unlink $temporary if defined $temporary;
  $SIG{$_[0]} = 'DEFAULT';
  kill $_[0], $$;
}
for (qw(HUP INT TERM)) { $SIG{$_} = \\&gone unless ($SIG{$_} || '') eq 'IGNORE' }
sub replace {
  my ($path, $bytes) = @_;
  my ($directory, $name) = split_path($path) or return;
  my @old = lstat $path;
  if (@old) {
    return if ($old[2] & 0170000) != 0100000 || $old[3] != 1 || syscall($access, -100, $path, 2) || !bare($path);
  } else {
    return unless -d $directory;
  }
  my $new = $directory . '.' . substr($name, 0, 100) . '.' . int(rand 1e9) . $$;
  $temporary = $new;
  my $file;
  unless (sysopen $file, $new, 0301, @old ? 0600 : 0666) { undef $temporary; return }
  local $SIG{XFSZ} = 'IGNORE';
  my $done = put($file, $bytes) == length $bytes && close $file;
  if ($done && @old) {
    my @new = lstat $new;
    $done = @new && "@old[3 .. 5]" eq "@new[3 .. 5]" && bare($new) && chmod($old[2] & 07777, $new);
  }
  $done &&= rename $new, $path;
  unlink $new unless $done;
  undef $temporary;
  $done;
}
while (1) {
  my $what = word();
  if ($what eq 'say') {
    my ($to, $text) = (word(), word());
    my $size = put($to == 1 ? \\*STDOUT : \\*STDERR, $text);
    if ($size < length $text) { if ($size) { $failed = 1 } else { hand($what, $to, $text, rest()) } }
  } elsif ($what eq 'look') {
    my $path = word();
    my $said = identity($path);
    hand($what, $path, rest()) unless defined $said;
    put($ask, $said . content($path));
  } elsif ($what eq 'identify') {
    my ($count, $path) = (word(), word());
    my $said = $count == 1 ? identity($path) : undef;
    hand($what, $count, $path, rest()) unless defined $said;
    put($ask, $said);
  } elsif ($what eq 'begin') {
    my ($path, $mode) = (word(), word());
    hand($what, $path, $mode, rest()) unless $mode eq '' && $buffer =~ /^put\\0/;
    word();
    my $count = word();
    more() while length $buffer < $count;
    my $bytes = substr $buffer, 0, $count, '';
    my $end = word();
    hand($what, $path, $mode, 'put', $count, $bytes, $end) unless $end eq 'commit' && replace($path, $bytes);
    put($ask, "ok\\0\\0" x 3);
  } elsif ($what eq 'discard') {
    put($ask, "ok\\0\\0");
  } elsif ($what eq 'exit') {
    my $code = word();
    exit($code || $failed);
  } else {
    hand($what, rest());
  }
}
`
