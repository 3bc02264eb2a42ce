/**
 * The long help of the `TodoWrite` command.
 *
 * @since 0.1.0
 */

/**
 * The usage of `TodoWrite`, for a call without any input.
 *
 * @since 0.1.0
 */
export const usageText = `USAGE
  TodoWrite '{"todos":[{"content":"Run the tests","activeForm":"Running the tests","status":"pending"}]}'

  TodoWrite <<'EOF'
  {"todos":[{"content":"Don't stop","activeForm":"Going on","status":"in_progress"}]}
  EOF
`

/**
 * The help of `TodoWrite`.
 *
 * @since 0.1.0
 */
export const help = `TodoWrite - replace the list of tasks

${usageText}
ARGUMENTS
  <json>        {"todos":[<task>, ...]}: the whole list, in its order. What is not in it is gone.
  <task>        {"content":"...","activeForm":"...","status":"..."}: these three keys, all of them, and no others.
    content     What is to be done: "Run the tests".
    activeForm  The same while it is being done: "Running the tests".
    status      pending, in_progress or completed.

OPTIONS
  --show        The list as it is; nothing is changed.
  -h            The usage line.
  --help        This text.

INPUT
  TodoWrite '<json>'           Quoted as for any command. A single quote within it is written '\\''.
  TodoWrite <<'EOF'            A heredoc: nothing within it needs to be quoted.
  cat todos.json | TodoWrite   Standard input, where there is no argument: UTF-8, at most 8 MiB.
  TodoWrite {"todos":[]}       Without quotes: only where it is all that follows on the line.

LIMITS
  50 tasks; SYNAPSE_TODO_MAX_ITEMS sets another limit.
  200 characters (Unicode code points) in content and in activeForm; SYNAPSE_TODO_MAX_CONTENT_LENGTH sets another limit.
  Neither may be blank, and only one task may be in_progress.

EXAMPLES
  TodoWrite '{"todos":[]}'     clears the list
  TodoWrite "$(cat todos.json)" && echo done

OUTPUT
  How many tasks there are of each status, then one line for each: [x] completed, [>] in progress, [ ] pending.

EXIT CODE
  0 where the list was replaced. 1 where it was not: the list is as it was, and standard error names every problem.
`
