// Synapse in a program without Effect: node scratchpad/promise.mjs
import { defineCommand, make } from "synapse-shell/promise"

const weather = defineCommand({
  name: "weather",
  summary: "Tells the weather of a city.",
  usage: "weather <city>",
  run: async ({ args: [city], signal }) => {
    if (city === undefined) throw new Error("which city?")
    signal.throwIfAborted()
    return `${city}: 21 degrees\n`
  }
})

const synapse = await make({
  timeout: 10_000,
  commands: [weather],
  onPermission: async ({ access, resource }) => {
    console.log(`asked for permission to ${access} ${resource}`)
    return "deny"
  }
})

/** @param {string} command */
const call = (command) => ({ id: command, name: "Bash", arguments: { command } })

// A command of one's own works anywhere in a line.
console.log((await synapse.handle(call("for city in Rome Oslo; do weather $city; done | sort"))).output)

// The output as it comes, and the result at the end.
const pending = synapse.handle(call("for i in 1 2 3; do echo $i; sleep 0.1; done"))
for await (const { text } of pending) if (text.includes("2")) pending.cancel()
console.log((await pending).extras.exitCode)

await synapse.dispose()
