import pg from 'pg'
import { StoreUnavailable } from '../../ports/store.ts'

/** Advice for an error, by the start of its code (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const ADVICE: readonly (readonly [code: string, advice: string])[] = [
  [
    '08006',
    'Start this machine of the Citus cluster, or promote its standby. Requests that need its rows get 503 until then.',
  ],
  ['08P01', 'If PgBouncer is in between, configure it to pass on or ignore the start-up parameter "options".'],
  ['25006', 'DATABASE_URL must name the server that accepts writes, not a standby.'],
  [
    '28000',
    'Check that the role may log in and that pg_hba.conf allows it from this host; if that requires TLS, add sslmode=verify-full to DATABASE_URL.',
  ],
  ['28', 'Correct the user and the password in DATABASE_URL.'],
  ['3D000', 'Run createdb to create it, or correct DATABASE_URL.'],
  ['42501', 'The role of DATABASE_URL must own the database and its tables.'],
  ['42704', 'PostgreSQL 14 or newer is required, and DATABASE_URL may contain only parameters that it knows.'],
  ['53100', 'Free some space on its disk. Meanwhile commands that only read work.'],
  ['53300', 'Raise max_connections, or let fewer nodes connect.'],
  ['57P03', 'Wait until it has started.'],
  ['58030', 'See its log, and the log of its system.'],
]

/** Errors of the driver itself, by their message. */
const FAULTS: readonly (readonly [message: RegExp, explanation: string])[] = [
  [
    /timeout (expired|exceeded)|connection timeout|read timeout/i,
    'PostgreSQL cannot be reached: no response in time. Check that DATABASE_URL names the right host and port.',
  ],
  [
    /connection (terminated|ended)/i,
    'PostgreSQL cannot be reached: the connection was closed. Check its log, and that DATABASE_URL names the right host and port.',
  ],
  [/client password must be/, 'PostgreSQL requires a password, and DATABASE_URL has none.'],
  [
    /does not support SSL/,
    'PostgreSQL does not offer TLS, which DATABASE_URL requires. Set ssl = on in its configuration, or remove sslmode.',
  ],
]

/**
 * Returns the error with an explanation for the operator: what it is, and what to do. Errors that are not PostgreSQL's are
 * returned unchanged. pg's messages do not contain the password, and these texts do not contain the address.
 */
export function forOperator(cause: unknown): unknown {
  const fault = rootOf(cause)
  if (!(fault instanceof Error)) return cause
  const explanation = explain(fault)
  return explanation === undefined ? cause : new Error(explanation, { cause })
}

function rootOf(cause: unknown): unknown {
  if (cause instanceof StoreUnavailable) return rootOf(cause.cause)
  return cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause
}

function explain(fault: Error): string | undefined {
  const code = 'code' in fault && typeof fault.code === 'string' ? fault.code : ''
  if (fault instanceof pg.DatabaseError) {
    const advice = ADVICE.find(([start]) => code.startsWith(start))?.[1]
    return [`PostgreSQL refused: ${fault.message}.`, advice].filter((part) => part !== undefined).join(' ')
  }
  if ('syscall' in fault && fault.syscall === 'open') {
    return `DATABASE_URL names a file that cannot be read: ${fault.message}.`
  }
  if ('syscall' in fault) return `PostgreSQL cannot be reached: ${fault.message}. Check DATABASE_URL.`
  if (/CERT|SIGNATURE|ISSUER|TLS|SSL/.test(code)) {
    return `The certificate of PostgreSQL is not accepted: ${fault.message}. Set sslmode=verify-full&sslrootcert=<file of its CA> in DATABASE_URL, and use the host name of the certificate.`
  }
  return FAULTS.find(([message]) => message.test(fault.message))?.[1]
}
