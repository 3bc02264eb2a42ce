import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { ownSockets } from "./ownSockets.suite.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("the sandbox of root", () => {
  ownSockets("and sockets of its own", ground ?? "")
})
