/**
 * The long help of the `bash` command.
 *
 * @since 0.1.0
 */
export const help = `bash - run a command in this session

USAGE
  bash <command>

ARGUMENTS
  <command>  What runs, as it is written: the word "bash" is taken away, and the rest of the line runs in the
             session you are in, with its directory, variables and functions. "bash <command>" and "<command>" are
             the same; there is no need to write "bash".

OPTIONS
  -h         The usage line.
  --help     This text. Only where it is the one and only argument: "bash ls --help" is the help of ls.

A BASH OF ITS OWN
  These start a new bash that ends with the command and leaves nothing behind in the session:
  bash -c '<command>'      any option of bash first (-c, -x, -e, --version, -s ...)
  bash script.sh [args]    a file: one that exists, or a word with a slash in it, or with the ending .sh
  bash $file, bash 'a b'   a first word that is quoted, or that bash expands ($, *, ~, {a,b}, ...)
  bash < file, bash <<EOF  commands from a redirection

EXAMPLES
  bash cd /tmp             the session is in /tmp afterwards
  bash echo hi | cat       runs: echo hi | cat
  bash -c 'cd /tmp; pwd'   prints /tmp; the session stays where it was
  bash ./build.sh --fast   runs the script

EXIT CODE
  The command's own. 1 without a command.
`
