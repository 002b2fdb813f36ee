import { readGuardedFile } from '../files/guarded-file.ts'
import { SECRET_SETTINGS } from './schema.ts'

type Values = Readonly<Record<string, string | undefined>>

/** The settings that were read from files of their own. */
export interface SecretFiles {
  /** The content of each file, by the name of the setting. */
  readonly values: Values
  readonly mistakes: readonly string[]
  readonly warnings: readonly string[]
}

const SUFFIX = '_FILE'
/** Used by commands with --server. The server accepts and ignores it, so one environment serves both. */
export const COMMAND_TOKEN = 'GRANTOR_ADMIN_TOKEN'

/** `GRANTOR_SECRET_FILE`: the setting that names the file with GRANTOR_SECRET. */
export function fileSettingOf(name: string): string {
  return name + SUFFIX
}

/** Whether the name is that of a setting that names the file of another one. */
export function isFileSetting(name: string): boolean {
  return [...SECRET_SETTINGS, COMMAND_TOKEN].some((secret) => name === fileSettingOf(secret))
}

/**
 * Reads the files that `<NAME>_FILE` names, of each of these settings. A line break at the end of the file is not part of
 * the secret. A setting that has both a value and a file is a mistake.
 */
export function readSecretFiles(settings: Values, names: readonly string[]): SecretFiles {
  const values: Record<string, string> = {}
  const mistakes: string[] = []
  const warnings: string[] = []
  for (const name of names) {
    const path = settings[fileSettingOf(name)]
    if (path === undefined) continue
    if (settings[name] !== undefined) {
      mistakes.push(`${name} and ${fileSettingOf(name)} are both set. Remove one of them.`)
      continue
    }
    const found = readSecretFile(path)
    if ('mistake' in found) mistakes.push(`${fileSettingOf(name)} names ${found.mistake}`)
    else {
      values[name] = found.secret
      if (found.warning !== undefined) warnings.push(found.warning)
    }
  }
  return { values, mistakes, warnings }
}

/** Reads a file that has one secret. A line break at its end is not part of the secret. A mistake repeats nothing of the file. */
export function readSecretFile(
  path: string,
): { readonly secret: string; readonly warning: string | undefined } | { readonly mistake: string } {
  try {
    const { text, fault, exposure, remedy } = readGuardedFile(path)
    if (fault !== undefined) return { mistake: `a file that is not safe. ${fault}` }
    if (exposure === 'fault') {
      return { mistake: `a file that is not safe. Other users can read it. Run: ${remedy}` }
    }
    const secret = text.replace(/\r?\n$/, '')
    if (secret === '') return { mistake: `${path}, which is empty` }
    if (/[\r\n]/.test(secret)) return { mistake: `${path}, which has more than one line` }
    const warning = `Other users can read ${path}, which is a secret, and the file is mounted read-only`
    return { secret, warning: exposure === 'warning' ? warning : undefined }
  } catch (cause) {
    return { mistake: `${path}, which cannot be read: ${(cause as Error).message}` }
  }
}
