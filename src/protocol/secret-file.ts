/** The owner and the POSIX mode of a file. */
export interface FileFacts {
  readonly uid: number
  readonly mode: number
}

/**
 * Returns why a file that holds secrets must not be used, or undefined if it may be used. Its owner must be the user of the
 * process or root. No other user may write to it, nor read it if `othersMay` is `nothing`. Another user of the machine who
 * could replace the secret could sign tokens (threats.md STO-11). `processUser` is undefined on systems whose files have no
 * such owner (Windows).
 */
export function checkSecretFile(
  path: string,
  { uid, mode }: FileFacts,
  processUser: number | undefined,
  othersMay: 'nothing' | 'read',
): string | undefined {
  if (processUser !== undefined && uid !== processUser && uid !== 0) {
    return `${path} belongs to the user ${uid}, who can change it, and this process runs as the user ${processUser}. Run it as the user ${uid}. Or, if you know what is in the file, run: chown ${processUser} ${path}`
  }
  if (othersMay === 'nothing' && othersMayRead({ mode })) return `Other users may read ${path}. Run: chmod 600 ${path}`
  return (mode & 0o022) === 0 ? undefined : `Other users may write to ${path}. Run: chmod go-w ${path}`
}

/** Whether users other than the owner may read the file. Permission to write or execute it counts as well. */
export function othersMayRead({ mode }: Pick<FileFacts, 'mode'>): boolean {
  return (mode & 0o077) !== 0
}
