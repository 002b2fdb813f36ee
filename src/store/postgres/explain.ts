import pg from 'pg'
import { StoreUnavailable } from '../../ports/store.ts'

/** What to do about a refusal, by the start of its code (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const ADVICE: readonly (readonly [code: string, advice: string])[] = [
  ['08P01', 'If PgBouncer stands between, let it pass or ignore the start-up parameter "options".'],
  ['25006', 'Let DATABASE_URL name the server that takes writes, not a standby.'],
  [
    '28000',
    'See that it may sign in and that pg_hba.conf lets it in from here; where that asks for TLS, add sslmode=verify-full to DATABASE_URL.',
  ],
  ['28', 'Correct the user and the password in DATABASE_URL.'],
  ['3D000', 'Make it (createdb), or correct DATABASE_URL.'],
  ['42501', 'Let the role of DATABASE_URL own the database and its tables.'],
  ['42704', 'PostgreSQL 14 or newer is needed, and only its own parameters may stand in DATABASE_URL.'],
  ['53300', 'Raise max_connections, or let fewer nodes connect.'],
  ['57P03', 'Wait until it has started.'],
]

/** What pg says in words of its own. */
const FAULTS: readonly (readonly [message: RegExp, explanation: string])[] = [
  [
    /timeout (expired|exceeded)|connection timeout|read timeout/i,
    'PostgreSQL cannot be reached: no answer in time. See that DATABASE_URL names the right host and port.',
  ],
  [
    /connection (terminated|ended)/i,
    'PostgreSQL cannot be reached: the connection was cut. See its log, and that DATABASE_URL names the right host and port.',
  ],
  [/client password must be/, 'PostgreSQL asks for a password, and DATABASE_URL has none.'],
  [
    /does not support SSL/,
    'PostgreSQL does not speak TLS, which DATABASE_URL asks for. Set ssl = on there, or leave sslmode away.',
  ],
]

/**
 * The failure as an operator reads it: what it is, and what to do. What is not PostgreSQL's is handed back unchanged. No
 * message of pg has the password in it, and none of these has the address.
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
  if ('syscall' in fault) return `PostgreSQL cannot be reached: ${fault.message}. See that DATABASE_URL is right.`
  if (/CERT|SIGNATURE|ISSUER|TLS|SSL/.test(code)) {
    return `The certificate of PostgreSQL is not accepted: ${fault.message}. Write sslmode=verify-full&sslrootcert=<file of its CA> into DATABASE_URL, and the host as the certificate has it.`
  }
  return FAULTS.find(([message]) => message.test(fault.message))?.[1]
}
