/** What 60 edits in a shell loop cost, against as many `sed -i`: natively and in the sandbox. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Synapse from "../../src/Synapse.js"
import { Toolset } from "../../src/toolset/Toolset.js"
import * as Table from "./Table.js"

const edits = 60
const old = `${Array.from({ length: edits }, (_, at) => `old${at + 1} line`).join("\n")}\n`

for (const enabled of [true, false]) {
  const directory = Fs.mkdtempSync(Path.join(process.cwd(), ".edits-bench-"))
  const file = Path.join(directory, "f")
  const runtime = ManagedRuntime.make(
    Synapse.layer({ cwd: directory }, { sandbox: { home: `${directory}-home`, temporary: directory, enabled } })
  )
  const row = (name: string, edit: string): Table.Row => ({
    name,
    run: async () => {
      Fs.writeFileSync(file, old)
      const command = `for i in $(seq ${edits}); do ${edit}; done >/dev/null`
      const start = performance.now()
      const result = await runtime.runPromise(
        Effect.flatMap(Toolset, (toolset) =>
          toolset.handle({ id: "1", name: "Bash", arguments: JSON.stringify({ command }) })
        )
      )
      const time = performance.now() - start
      if (Fs.readFileSync(file, "utf8") !== old.replaceAll("old", "new")) throw new Error(`${name}: ${result.output}`)
      return time
    }
  })
  try {
    await Table.print(
      [row("sed -i", 'sed -i "s/old$i line/new$i line/" f'), row("edit", 'edit f "old$i line" "new$i line"')],
      { title: `${edits} edits in a loop, ${enabled ? "in the sandbox" : "natively"}`, samples: 5, goals: { edit: 4 } }
    )
  } finally {
    await runtime.dispose()
    for (const path of [directory, `${directory}-home`]) Fs.rmSync(path, { recursive: true, force: true })
  }
}
