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
  facts: FileFacts,
  processUser: number | undefined,
  othersMay: 'nothing' | 'read',
): string | undefined {
  const { uid, mode } = facts
  if (processUser !== undefined && uid !== processUser && uid !== 0) {
    return `${path} belongs to the user ${uid}, who can change it, and this process runs as the user ${processUser}. Run it as the user ${uid}. Or, if you know what is in the file, run: chown ${processUser} ${path}`
  }
  if (othersMay === 'nothing' && othersMayRead({ mode }))
    return `Other users may read ${path}. Run: ${closingCommand(path, facts, processUser)}`
  return (mode & 0o022) === 0 ? undefined : `Other users may write to ${path}. Run: chmod go-w ${path}`
}

/** Whether users other than the owner may read the file. Permission to write or execute it counts as well. */
export function othersMayRead({ mode }: Pick<FileFacts, 'mode'>): boolean {
  return (mode & 0o077) !== 0
}

/** The command after which only this process can read a file. */
export function closingCommand(path: string, { uid }: Pick<FileFacts, 'uid'>, processUser: number | undefined): string {
  const close = `chmod 600 ${path}`
  return processUser === undefined || uid === processUser ? close : `chown ${processUser} ${path} && ${close}`
}

/** Says why this process may not open a file or use a folder, and what to do. */
export function describeDenial(path: string, { uid, mode }: FileFacts, processUser: number | undefined): string {
  if (processUser === undefined) return `This user may not use ${path}. Change its permissions.`
  if (uid === processUser) {
    return `${path} belongs to the user of this process, and its mode ${(mode & 0o7777).toString(8)}, or a rule of the system such as AppArmor or a setting of the systemd unit, forbids the access. Run: chmod u+rwX ${path}`
  }
  return `${path} belongs to the user ${uid}, and this process runs as the user ${processUser}, who may not use it. Run it as the user ${uid}, or run: chown ${processUser} ${path}`
}
