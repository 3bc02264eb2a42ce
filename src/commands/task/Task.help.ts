/**
 * The help of the commands `task:*`.
 *
 * @since 0.1.0
 */

/**
 * The help of the commands `task:*`.
 *
 * @since 0.1.0
 */
export const help = `task - sub-agents: other agents that do a task of their own, and answer with a text

USAGE
  task:<type> -d <words> -p <prompt> [--skill NAME] [--model NAME] [--max-turns N]
  task:list

TYPES
  task:general   Does a task of several steps, with all that you can do yourself.
  task:explore   Searches and reads. Its sandbox lets it write nowhere but to temporary files of its own.
  task:skill     Does a task by a skill's instructions: --skill NAME.
  Others are markdown files with front matter (name, description; optionally model, maxTurns, tools, skills, readOnly):
  .claude/agents/*.md in the working directory, agents/*.md in Synapse's home. task:list shows all.

OPTIONS
  -d, --description  What the task is, in a few words, for those who watch. Required.
  -p, --prompt       The task. The sub-agent knows nothing of your conversation: tell it all that it needs, and what
                     its answer should hold. A single word after the options is taken as the prompt, too.
  --skill NAME       A skill whose instructions it begins with; may be given more than once.
  --model NAME       A model other than the type's: name, or provider/name.
  --max-turns N      The most turns that it may take, within SYNAPSE_MAX_TOOL_ITERATIONS.

INPUT
  Standard input is the prompt, or comes after the prompt of -p, as its context: 512 KiB at most. In a loop that reads
  its own input ("while read"), call it with </dev/null, or it takes all of that.

WHAT IT DOES
  It has a shell and a list of tasks of its own, starts in the current directory, and has no more rights than you. Its
  answer goes to standard output. It starts no sub-agents itself. At most SYNAPSE_MAX_PARALLEL_TASKS (5) run at a time;
  others wait.

TIME
  A call that is task:<type> alone takes the time that it needs, or the call's timeout=<ms>. A line that holds more than
  it, as a pipe or a loop, is ended after 30 minutes, or its call's timeout.

EXAMPLES
  task:explore -d 'Find the parser' -p 'Which files parse the configuration? Answer with paths and line numbers.'
  git diff | task:general -d 'Review' -p 'Review this diff. List only defects, each with file and line.'
  for f in src/*.ts; do task:explore -d "Check $f" -p "Is $f tested? One line." & done; wait

EXIT CODE
  0 done; 1 wrong call, a limit reached (standard output has what was said so far) or a failure; 126 within a sub-agent;
  127 unknown type
`
