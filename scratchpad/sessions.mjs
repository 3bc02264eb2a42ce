// Sessions that outlive the program, in the daemon of `synapse exec --session`: node scratchpad/sessions.mjs
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "synapse-shell/promise"

const directory = mkdtempSync(join(tmpdir(), "synapse-sessions-"))
const client = await connect()
const session = client.session("example", { cwd: directory })

// The shell stays from one command to the next, and from one program to the next.
await session.run("count=5; mkdir sessions; cd sessions")
for await (const { text } of session.run("echo $count in ${PWD##*/}")) process.stdout.write(text)

// Cancelled, a command ends; its session goes on.
const pending = session.run("echo begun; sleep 100", { onOutput: () => pending.cancel() })
console.log((await pending).extras.exitCode)

console.log((await client.list()).map(({ name }) => name))
console.log(await session.close())
rmSync(directory, { recursive: true })
