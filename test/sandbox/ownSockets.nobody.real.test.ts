import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { ownSockets } from "./ownSockets.suite.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("the sandbox of an ordinary user", () => {
  ownSockets("and sockets of its own", ground ?? "")
})
