import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { trees } from "./trees.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined)("trees that an ordinary user's commands leave", () => trees(ground ?? ""))
