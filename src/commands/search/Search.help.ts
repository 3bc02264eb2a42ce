/**
 * The long help of the `command:search` command.
 *
 * @since 0.1.0
 */

/**
 * The help of `command:search`.
 *
 * @since 0.1.0
 */
export const help = `command:search - find a command by what it is called or what it does

USAGE
  command:search [<word>...] [--type TYPE] [--limit N] [--refresh]

ARGUMENTS
  <word>        What to look for in names and descriptions, in letters of any case. All words must fit. Without any,
                all commands are listed but for the system's programs, which are found by one word only.

OPTIONS
  --type TYPE   agent       Synapse's own commands.
                mcp         Tools of MCP servers.
                skill       Skills and their programs.
                extension   These two, and others of their kind.
                native      Programs of the PATH and builtins of bash, by their names.
                all         All of these: the default.
  --limit N     The most lines; 20 where it is not given.
  --refresh     Asks the MCP servers and the skills anew for what they have.
  -h            The usage line.
  --help        This text.

EXAMPLES
  command:search create issue
  command:search --type=mcp
  command:search zip --type=native

OUTPUT
  A line for each command, the best first: its name, its type, and what it does. What stands in quotes are the words of
  a server or a skill. <name> --help shows how a command is used; skill:load <name> prints a skill's instructions.

EXIT CODE
  0 where something was found, 1 where nothing was.
`
