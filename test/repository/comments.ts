import { dirname, join, normalize } from 'node:path'
import type { SourceFile } from './layout.ts'

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$|(?<=^|\s)--.*$/gm
/** A path such as `store/table.ts`, and no address, pattern or part of a name. */
const PATH = /(?<![\w*:./{}<$-])(?:\.{1,2}\/)*\w[\w.-]*(?:\/[\w.-]+)*\.(?:ts|md|sql)\b/g

/** Each path in a comment that no file has: neither from the root, nor from the comment's file, nor as the ending of a path. */
export function findLostPaths(files: readonly SourceFile[], paths: readonly string[]): readonly string[] {
  const known = new Set(paths.flatMap(endingsOf))
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(COMMENT)]
      .flatMap(([comment]) => comment.match(PATH) ?? [])
      .filter((named) => !known.has(normalize(named)) && !known.has(join(dirname(path), named)))
      .map((named) => `${path}: a comment names ${named}, which does not exist.`),
  )
}

/** `store/table.ts` and `table.ts` for the latter part of `src/store/table.ts`, which is itself one. */
function endingsOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(index).join('/'))
}
