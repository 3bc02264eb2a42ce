/**
 * The rules of docstrings: every export of a public module has one that says what the thing is or does, with an
 * `@since`, and that begins with a verb or with the thing itself. Tags are for public modules only.
 */
import * as ts from "typescript"

const isExported = (statement: ts.Statement): boolean =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/** Returns the name of a declaration; of a list of variables, the first one's. */
const declaredName = (statement: ts.Statement): string => {
  const named = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement
  return (named && ts.getNameOfDeclaration(named as ts.Declaration)?.getText()) ?? "the export"
}

/** Returns the flaws in the docstring of a declaration; only a public module's export needs one, and only there has tags. */
export const flawsOf = (statement: ts.Statement, isPublic: boolean): ReadonlyArray<string> => {
  const docstring = ts.getJSDocCommentsAndTags(statement).findLast(ts.isJSDoc)
  const text = ts.getTextOfJSDocComment(docstring?.comment)?.trim() ?? ""
  const has = (tag: string) => docstring?.tags?.some(({ tagName }) => tagName.text === tag) === true
  const name = declaredName(statement)
  if (!isPublic) {
    return ["since", "category", "internal"]
      .filter(has)
      .map((tag) => `the docstring of ${name} has @${tag}, which is for public modules`)
  }
  if (!isExported(statement)) return []
  const riddle = /^(What|Whether|Where|How|Why|Who|Whom|When)\b/.exec(text)?.[1]
  return [
    ...(text === "" ? [`${name} has no docstring that says what it is`] : []),
    ...(has("since") ? [] : [`the docstring of ${name} has no @since`]),
    ...(riddle === undefined ? [] : [`the docstring of ${name} begins with ${riddle}: begin with a verb, or the thing`])
  ]
}
