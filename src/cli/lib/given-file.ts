import { readFileSync } from 'node:fs'
import { UsageError } from './failure.ts'

/** Returns the text of a file that an option names. @throws UsageError with the name of the file */
export function readGivenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new UsageError(`${path} cannot be read: ${(cause as NodeJS.ErrnoException).code}`)
  }
}
