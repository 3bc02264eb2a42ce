/**
 * The official conformance suite and the inspector. They need Node 22 and 370 MB, so they are no dependencies. To run what
 * uses them:
 *
 * npm install --no-save node@22 @modelcontextprotocol/conformance @modelcontextprotocol/inspector
 */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { promisify } from "node:util"

const bin = path.resolve(import.meta.dirname, "../../../node_modules/.bin")

export const isInstalled = ["node", "conformance", "mcp-inspector"].every((name) => fs.existsSync(path.join(bin, name)))

export const why = "test/support/mcp/Conformance.ts says how to install the conformance suite and the inspector"

/** Runs one of them in a directory. A scenario that fails is an exit code, so it rejects. */
export const run = (directory: string, name: string, ...args: ReadonlyArray<string>) => {
  const env = { PATH: `${bin}:${process.env["PATH"]}`, HOME: directory }
  return promisify(execFile)(path.join(bin, name), args, { cwd: directory, env, timeout: 120_000 })
}
