/**
 * The help of the commands `skill:*`.
 *
 * @since 0.1.0
 */

/**
 * The help of the commands `skill:*`.
 *
 * @since 0.1.0
 */
export const help = `skill - instructions and programs for special tasks

USAGE
  skill:list                     One line for each skill: its name, its tools, what it is for.
  skill:info <name>              What a skill is for, where it lies, and its tools.
  skill:load <name>              A skill's instructions. Read them before the task that they are for.
  skill:<name>:<tool> [args]     Runs a program of a skill's scripts/, as if it were called by its path: in the current
                                 directory, with these arguments, standard input and exit code. --help goes to it, too.

SKILLS
  Directories with a SKILL.md: .agents/skills/<name> and .claude/skills/<name> in the working directory, and skills/<name>
  in Synapse's home, in this order where a name is there twice.

TOOLS
  scripts/extract.py is skill:<name>:extract, and scripts/forms/fill.sh is skill:<name>:forms:fill. Where two files differ
  in their extensions alone, these belong to the names. The first line of a file (#!) tells what runs it, or else its
  extension: .py .js .mjs .cjs .ts .sh .bash .rb .pl .php. A program without either must be executable.
`
