/** What a file system says of a file; the mode as POSIX has it. */
export interface FileFacts {
  readonly uid: number
  readonly mode: number
}

/**
 * Why a file that holds secrets must not be used; undefined: it may. Its owner is the user of the process or root, and no other
 * user may write to it, or read it where `othersMay` is `nothing`. A user of the machine who puts a secret of their own there
 * could sign tokens (threats.md STO-11). `processUser` is undefined where files have no such owners (Windows).
 */
export function checkSecretFile(
  path: string,
  { uid, mode }: FileFacts,
  processUser: number | undefined,
  othersMay: 'nothing' | 'read',
): string | undefined {
  if (processUser !== undefined && uid !== processUser && uid !== 0) {
    return `${path} belongs to the user ${uid}, who can change it, and this process runs as the user ${processUser}. Run it as the user ${uid}. Or, when you know what is in the file, run: chown ${processUser} ${path}`
  }
  if (othersMay === 'nothing' && othersMayRead({ mode })) return `Others may read ${path}. Run: chmod 600 ${path}`
  return (mode & 0o022) === 0 ? undefined : `Others may write to ${path}. Run: chmod go-w ${path}`
}

/** Whether other users than the owner may read it. Who may write to a file or run it is counted too. */
export function othersMayRead({ mode }: Pick<FileFacts, 'mode'>): boolean {
  return (mode & 0o077) !== 0
}
