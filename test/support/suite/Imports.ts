/** Lets what a file has begun to import end with it: vitest waits a minute for each import whose file is gone. */
import { afterAll, vi } from "vitest"

afterAll(() => vi.dynamicImportSettled())
