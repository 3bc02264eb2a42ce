import { describe } from "@effect/vitest"
import { all } from "./all.js"
import * as Ground from "./Ground.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("attacks by an ordinary user", () => all(ground ?? ""))
