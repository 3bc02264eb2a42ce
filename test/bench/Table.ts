/**
 * Times several ways to do a thing in turns, so that a busy machine slows all of them alike, and prints the medians as a
 * table of ratios against the first.
 */

/** One row: what it is called, and one go at it, which answers with a number of its own or else is timed in milliseconds. */
export interface Row {
  readonly name: string
  readonly run: () => unknown
}

export interface Options {
  readonly title: string
  /** How many samples of each row; the first, which warms up, is one more and not counted. */
  readonly samples: number
  /** The unit of what rows measure: `ms` where not given. */
  readonly unit?: string
  /** What was promised, by the row's name: the highest ratio. A table that misses it says so. */
  readonly goals?: Readonly<Record<string, number>>
}

export interface Result {
  readonly name: string
  readonly median: number
  /** Half of the samples lie within these two. */
  readonly quartiles: readonly [number, number]
  readonly ratio: number
}

const quantile = (sorted: ReadonlyArray<number>, at: number): number => {
  const index = (sorted.length - 1) * at
  const low = sorted[Math.floor(index)] ?? Number.NaN
  const high = sorted[Math.ceil(index)] ?? Number.NaN
  return low + (high - low) * (index - Math.floor(index))
}

const measure = async (row: Row): Promise<number> => {
  const start = performance.now()
  const measured = await row.run()
  const elapsed = performance.now() - start
  return typeof measured === "number" ? measured : elapsed
}

/** Takes the samples: row by row, round by round. The first row is the baseline. */
export const sample = async (rows: ReadonlyArray<Row>, samples: number): Promise<ReadonlyArray<Result>> => {
  const taken = rows.map((row) => ({ row, values: [] as Array<number> }))
  for (let round = -1; round < samples; round++) {
    for (const { row, values } of taken) {
      const value = await measure(row)
      if (round >= 0) values.push(value)
    }
  }
  const results = taken.map(({ row, values }) => {
    const sorted = values.toSorted((a, b) => a - b)
    return {
      name: row.name,
      median: quantile(sorted, 0.5),
      quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)]
    } as const
  })
  const baseline = results[0]?.median ?? Number.NaN
  return results.map((result) => ({ ...result, ratio: result.median / baseline }))
}

const digits = (value: number): string => value.toFixed(value < 10 ? 3 : value < 1000 ? 1 : 0)

/** Samples, and prints the table. */
export const print = async (rows: ReadonlyArray<Row>, options: Options): Promise<ReadonlyArray<Result>> => {
  const results = await sample(rows, options.samples)
  const unit = options.unit ?? "ms"
  const goal = ({ name, ratio }: Result): string => {
    const most = options.goals?.[name]
    return most === undefined ? "" : `at most ${most}: ${ratio <= most ? "met" : "MISSED"}`
  }
  const lines = results.map((result) => [
    result.name,
    digits(result.median),
    result.quartiles.map(digits).join("–"),
    result.ratio.toFixed(2),
    goal(result)
  ])
  const table = [[options.title, unit, "middle half", "ratio", "goal"], ...lines]
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(3, ...table.map((line) => line[column]?.length ?? 0)))
  const format = (line: ReadonlyArray<string>): string =>
    `| ${line.map((cell, at) => (at === 0 || at === 4 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(" | ")} |`
  const rule = `|${widths.map((width, at) => (at === 0 || at === 4 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`
  const [head = [], ...body] = table
  console.log(
    [format(head), rule, ...body.map(format), `(medians of ${options.samples}, taken in turns)`, ""].join("\n")
  )
  return results
}
