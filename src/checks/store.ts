import type { DatabaseFacts, FileFacts } from '../ports/inspection.ts'
import type { EpochMs } from '../base/brand.ts'
import { isPlausible } from '../base/clock.ts'
import { chooseSigningKey, linesOf } from '../protocol/key-rotation.ts'
import { WRITE_FAULT_REMEDIES, WRITE_FAULT_TEXTS } from '../base/write-fault.ts'
import { checkServer } from './server.ts'
import { failed, ok, warning, type Examination, type Finding, type NetworkChoices } from './finding.ts'
import { forShell } from '../base/shell.ts'

const MEBIBYTE = 1024 * 1024
/** With less, the write-ahead log of a busy minute may not fit. */
const FREE_BYTES_MIN = 200 * MEBIBYTE
/** A server truncates a log at half of this, unless snapshots keep it. */
const LOG_BYTES_MOST = 512 * MEBIBYTE
/** How far the clock may be behind the newest row. */
const CLOCK_TOLERANCE_MS = 60_000
const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS
/** A daily backup that takes two hours longer than the previous one is not late. */
const BACKUP_AGE_MS = 26 * HOUR_MS

/** Checks the database, its schema, the root secret, the signing keys, and the clock against the rows. */
export function checkStore(examination: Examination): readonly Finding[] {
  const { database, location } = examination.store
  switch (database.kind) {
    case 'missing':
      return [checkMissing(examination), ...checkSecret(examination)]
    case 'unusable':
      return [failed('database', database.reason, 'Until this is fixed, a server does not start, or is not ready.')]
    case 'opened':
      return [
        ...(database.home.kind === 'file' ? checkFile(location, database.home) : checkServer(location, database.home)),
        ...checkClosing(database),
        ...checkOwner(examination, database),
        checkSchema(database),
        ...checkSecret(examination),
        ...checkKeys(examination),
        ...checkClock(examination, database),
        ...checkBackup(examination, database),
        ...checkHistory(examination),
      ]
  }
}

/** A server that lost its file answers that it is not ready. A ready one at the same address has another store. */
function checkMissing({ readiness, store: { location, database } }: Examination): Finding {
  if (readiness.kind === 'not-ready' && readiness.reason === 'store_unavailable' && database.kind === 'missing')
    return failed(
      'database',
      `${location} does not exist, and a server runs without its database.`,
      'If the file was moved or removed: stop the server, put the file back with its -wal file, or restore a backup, and start the server. If the server has another database, check DATABASE_URL.',
    )
  return warning(
    'database',
    `${location} does not exist yet.`,
    'The first start creates it: grantor serve. If it should exist, check DATABASE_URL.',
  )
}

/** Between loopback addresses a store may be used by both (isCompatibleIssuer). Between others a server does not start. */
function checkOwner({ choices }: Examination, { issuer }: DatabaseFacts): readonly Finding[] {
  if (issuer === undefined) return []
  if (!choices.isIssuerChosen && !choices.isLoopbackIssuer) {
    return [
      warning(
        'database',
        `GRANTOR_ISSUER is not set here, so the issuer of the servers of the database is examined: ${issuer}.`,
        `A server needs the setting: GRANTOR_ISSUER=${issuer}`,
      ),
    ]
  }
  if (issuer === choices.issuer) return []
  return [
    warning(
      'database',
      `The servers of the database have the issuer ${issuer}, and the issuer configured here is ${choices.issuer}.`,
      `If this is another server, set DATABASE_URL to a database of its own. If the address has changed, run: grantor issuer set ${forShell(choices.issuer)}`,
    ),
  ]
}

function checkFile(location: string, { damage, freeBytes, logBytes }: FileFacts): readonly Finding[] {
  const unread = ' "grantor doctor --deep" also reads the whole file.'
  return [
    damage === undefined || damage.length === 0
      ? ok(
          'database',
          `${location} is ${damage === undefined ? '' : 'undamaged, '}private, and synced at every commit.${damage === undefined ? unread : ''}`,
        )
      : failed('database', `${location} is damaged: ${damage.join('; ')}.`, 'Stop the server and restore a backup.'),
    checkSpace(freeBytes),
    ...(logBytes <= LOG_BYTES_MOST
      ? []
      : [
          warning(
            'database',
            `The write-ahead log ${location}-wal has ${Math.floor(logBytes / MEBIBYTE)} MiB.`,
            `A process keeps an old snapshot, such as a backup that is running, or programs that read the file without a pause. Find it: fuser ${forShell(location)}. The server truncates the log within half a minute of its end.`,
          ),
        ]),
  ]
}

function checkSpace(freeBytes: number): Finding {
  const free = `${Math.floor(freeBytes / MEBIBYTE)} MiB`
  if (freeBytes >= FREE_BYTES_MIN) return ok('disk', `${free} are free.`)
  if (freeBytes < MEBIBYTE) return failed('disk', WRITE_FAULT_TEXTS.disk_full, WRITE_FAULT_REMEDIES.disk_full)
  return warning('disk', `Only ${free} are free.`, 'Free some space: a full disk stops registration and tokens.')
}

function checkClosing({ closedAt }: DatabaseFacts): readonly Finding[] {
  if (closedAt === undefined) return []
  const remedy = 'Import the file that it wrote into the new place. To use this store again: grantor database reopen'
  return [failed('database', `"grantor export --final" closed the store at ${iso(closedAt)}.`, remedy)]
}

function checkSchema({ appliedMigrations, missingMigrations, unknownMigrations }: DatabaseFacts): Finding {
  if (unknownMigrations.length > 0) {
    return failed(
      'schema',
      `The database was migrated by a newer release (${unknownMigrations.join(', ')}).`,
      'Run that release or a newer one, or restore a backup from before the migration.',
    )
  }
  if (missingMigrations.length > 0) {
    return warning('schema', `Not applied yet: ${missingMigrations.join(', ')}.`, 'Run: grantor migrate')
  }
  return ok('schema', `Up to date, version ${String(appliedMigrations.at(-1) ?? 0)}.`)
}

function checkSecret({ store }: Examination): readonly Finding[] {
  const { secret, secretLocation, location } = store
  switch (secret.kind) {
    case 'matches':
      return [ok('secret', `The root secret in ${secretLocation} belongs to the database.`)]
    case 'matches-previous':
      return [
        warning(
          'secret',
          `The database still uses the root secret in ${store.previousSecretLocation}.`,
          `As soon as every node has both secrets, run: grantor secret rotate`,
        ),
      ]
    case 'matches-alone':
      return [
        warning(
          'secret',
          `The root secret in ${secretLocation} belongs to the database. The one in ${store.previousSecretLocation} is no longer needed.`,
          `Remove ${store.previousSecretLocation}.`,
        ),
      ]
    case 'unused':
      return []
    case 'differs':
      return [
        failed(
          'secret',
          `${location} was created with another root secret than the one in ${secretLocation}.`,
          `Put the right secret there. Without it no issued credential is valid, and you have to start with a new database.`,
        ),
      ]
    case 'missing':
      return [
        failed('secret', `${secretLocation} is missing.`, 'Restore it from a backup, or set GRANTOR_SECRET to it.'),
      ]
    case 'unusable':
      return [failed('secret', secret.reason, 'The server cannot start without its root secret.')]
  }
}

function checkKeys(examination: Examination): readonly Finding[] {
  const { keys, secret } = examination.store
  // With another secret no key decrypts, and the secret is reported already.
  if (!secret.kind.startsWith('matches')) return []
  if (keys.length === 0) {
    return [warning('keys', 'There is no signing key yet.', 'The first start creates one: grantor serve')]
  }
  const broken = keys.filter(({ state }) => state !== 'valid')
  if (broken.length === 0) return [decideRotation(examination)]
  return broken.map(({ id, state }) =>
    failed(
      'keys',
      `The signing key ${id} ${state === 'undecryptable' ? 'cannot be decrypted' : 'does not fit its public part'}: its row was changed.`,
      'Restore the database from a backup.',
    ),
  )
}

/** A running server rotates keys. A server that never runs for long, or whose clock is wrong, does not. */
function decideRotation({ store: { keys }, choices: { keyRotation }, now }: Examination): Finding {
  const signing = linesOf(keys)
    .flatMap((line) => chooseSigningKey(line, now) ?? [])
    .toSorted((one, other) => one.activeFrom - other.activeFrom)[0]
  const days = Math.floor((now - (signing?.activeFrom ?? now)) / DAY_MS)
  if (keyRotation === 0 || days * DAY_MS <= 2 * keyRotation * 1000) {
    return ok('keys', `Each signing key decrypts and fits its public part (${keys.length}).`)
  }
  return warning(
    'keys',
    `The key ${signing?.id} has been signing for ${days} days, more than twice as long as GRANTOR_KEY_ROTATION.`,
    'A running server creates the next key within a minute: search its log for keys.not-kept, and check its clock. To rotate now: grantor key rotate' +
      (signing?.purpose === 'id' ? ` --purpose id --algorithm ${signing.algorithm}` : ''),
  )
}

/** A starting server checks the clock by the same rule (threats.md STO-13). */
function checkClock({ now }: Examination, { home, time }: DatabaseFacts): readonly Finding[] {
  if (time === undefined) return []
  const behindMs = time.deletionTime - now
  if (home.kind === 'server') {
    if (behindMs <= CLOCK_TOLERANCE_MS) return [ok('clock', 'No row in the database is from the future.')]
    return [
      failed(
        'clock',
        `The database has rows from ${iso(time.agreedAt)}, which is ${seconds(behindMs)} s ahead of this clock.`,
        'Set the clock, best by NTP; if it is right now, wait that long before you start the server.',
      ),
    ]
  }
  if (isPlausible(now, time)) return [ok('clock', 'The clock continues from the time at which it last agreed.')]
  return [
    failed(
      'clock',
      behindMs > 0
        ? `A server confirmed the time ${iso(time.deletionTime)}, which is ${seconds(behindMs)} s ahead of this clock. No token is issued.`
        : `No server has confirmed the time since ${iso(time.agreedAt)}, which is ${Math.round((now - time.agreedAt) / DAY_MS)} days ago by this clock. No token is issued.`,
      'Set the clock, best by NTP. If it is right now: grantor clock confirm',
    ),
  ]
}

/** A server that is only for this machine needs no backup. */
export function checkBackup(
  { choices, now }: Pick<Examination, 'now'> & { readonly choices: Pick<NetworkChoices, 'isLoopbackIssuer'> },
  { backedUpAt }: Pick<DatabaseFacts, 'backedUpAt'>,
): readonly Finding[] {
  if (backedUpAt === undefined && choices.isLoopbackIssuer) return []
  if (backedUpAt === undefined) {
    const remedy = 'Run it every night (docs/operations/backup.md), unless PostgreSQL is backed up in another way.'
    return [warning('backup', 'No backup was made with "grantor backup".', remedy)]
  }
  const ageMs = now - backedUpAt
  const made = `The last backup was made at ${iso(backedUpAt)}`
  if (ageMs <= BACKUP_AGE_MS) return [ok('backup', `${made}.`)]
  const hours = Math.floor(ageMs / HOUR_MS)
  return [
    warning('backup', `${made}, ${hours} hours ago.`, 'Look at the timer that runs "grantor backup", and at its log.'),
  ]
}

function iso(time: EpochMs): string {
  return new Date(time).toISOString()
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000)
}

/** A store that was restored by other means than `grantor restore` revives what was revoked since. */
function checkHistory({ store: { history, location } }: Examination): readonly Finding[] {
  const answers =
    'If it was restored, run: grantor restore --in-place. If nothing was lost: grantor restore --nothing-lost'
  switch (history?.kind) {
    case undefined:
      return []
    case 'remembered':
      return [ok('history', `The store has what ${history.path} remembers of it.`)]
    case 'no-file':
      return [
        ok(
          'history',
          'This command knows no file in which servers remember the store: name it in GRANTOR_STATE_FILE. Under systemd, servers use grantor.state in their StateDirectory.',
        ),
      ]
    case 'unconfirmed':
      return [
        warning('history', `${history.path} remembered nothing of ${location} when a server started here.`, answers),
      ]
    case 'went-back':
      return [
        failed(
          'history',
          `${location} lacks what ${history.path ?? 'a server'} remembers of it. Until you answer, no server serves anything.`,
          answers,
        ),
      ]
  }
}
