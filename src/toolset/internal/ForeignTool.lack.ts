/** Says what there is none of here, where a tool of another agent has no counterpart. */

const texts: ReadonlyMap<string, string> = new Map([
  ["askfollowupquestion", "there is no tool that asks the user; ask in your answer"],
  ["askuserquestion", "there is no tool that asks the user; ask in your answer"],
  ["attemptcompletion", "there is no tool that ends the work; give the result as your answer"],
  ["browseraction", "there is no browser"],
  ["computer", "there is no screen, no keyboard and no mouse"],
  ["enterplanmode", "there is no tool for plans; give the plan as your answer"],
  ["exitplanmode", "there is no tool for plans; give the plan as your answer"],
  ["notebookedit", "there is no tool for notebooks; a notebook is a JSON file, which any program can change"],
  ["notebookread", "there is no tool for notebooks; a notebook is a JSON file, which any program can read"],
  ["websearch", "there is no tool that searches the web"]
])

/** Returns the sentence about a tool, without its end; undefined where nothing is known to be lacking. */
export const of = (name: string): string | undefined => texts.get(name.toLowerCase().replace(/[^a-z]/g, ""))

const networked = new Set(["WebFetch", "WebSearch", "webfetch"])

/** Returns the same for a command that bash did not find, where no arguments would make it right. */
export const ofCommand = (
  name: string,
  { commands, isOffline = false }: { readonly commands: ReadonlyArray<string>; readonly isOffline?: boolean }
): string | undefined => {
  if (name === "Task" && !commands.includes("task:*")) return "there are no sub-agents: do the task yourself"
  if (networked.has(name)) return isOffline ? "the sandbox has no network but localhost" : of(name)
  return /^Notebook/.test(name) ? of(name) : undefined
}
