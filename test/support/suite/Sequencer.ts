/** The order of files. */
import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Begins with these files, so that none of them runs on alone at the end. */
export const beginWith = (names: ReadonlyArray<string>) =>
  class extends BaseSequencer {
    override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
      const rankOf = ({ moduleId, project }: TestSpecification) => {
        const at = names.indexOf(relative(project.config.root, moduleId))
        return at < 0 ? names.length : at
      }
      return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
    }
  }
