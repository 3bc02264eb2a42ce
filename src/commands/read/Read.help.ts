/**
 * The long help of the `read` command.
 *
 * @since 0.1.0
 */
export const help = `read - show a text file with line numbers

USAGE
  read <file> [--offset N] [--limit N]

ARGUMENTS
  <file>       The file, from the current directory. One that begins with a dash goes after --.

OPTIONS
  --offset N   Lines to skip: --offset 2 begins with line 3. 0 by default.
  --limit N    Lines to show, 1 or more. 2000 by default; SYNAPSE_READ_DEFAULT_LIMIT sets another default.
  -h           The usage line.
  --help       This text, as the last word too.

OUTPUT
  As from cat -n: the number of the line, right-aligned to 6, a tab, the line. The numbers are the file's own.
  A line longer than 2000 characters is cut, and ends in "... [N more characters]" (with one character for the dots).
  The CR of lines that end in CRLF is left out, and standard error says so. Bytes that are no UTF-8 are shown as U+FFFD.
  Where lines follow the window, standard error names the command that shows them.
  An empty file, and an offset behind the end, are no error: nothing is shown.

EXAMPLES
  read src/main.ts
  read src/main.ts --offset 199 --limit 50   lines 200 to 249
  read app.log --limit 100000 | grep -n ERROR
  read 'a name with blanks.txt'
  for f in src/*.ts; do read "$f" --limit 5; done
  find . -name '*.json' -exec read {} \\;

  A name that a variable could have ("read host") calls bash's own read, unless it stands in a plain line (no while, no
  until) and there is no standard input to read from: "read ./host" is the file in any case. In scripts of other shells
  (dash), read is that shell's own.

EXIT CODE
  0. 1 where the file can not be read, is a directory, or is binary (NUL bytes in its first 8 KiB, or the window's).
  126 where the sandbox's policy denies it.
`
