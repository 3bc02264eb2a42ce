// Turns each directory of shell files into a module without comments, because a bundle can hold only modules.
import * as fs from "node:fs"
import * as path from "node:path"

const root = path.resolve(import.meta.dirname, "..")
const modules = {
  "bridge/internal": "BashText.ts",
  "cli/shell": "EntryText.ts",
  "session/internal": "SupervisorText.ts"
}

for (const [room, module] of Object.entries(modules)) {
  const directory = path.join(root, room)
  const files = fs.readdirSync(directory).filter((name) => /\.(?:bash|pl)$/.test(name))
  const constants = files.sort().map((name) => {
    const text = fs.readFileSync(path.join(directory, name), "utf8").replaceAll(/^(?:[ \t]*#(?!!).*)?\n/gm, "")
    return `export const ${path.parse(name).name} = \`${text.replaceAll(/[\\`]|\$\{/g, "\\$&")}\`\n`
  })
  fs.writeFileSync(path.join(directory, module), constants.join(""))
}
