import * as z from 'zod'
import { AUDIT_EVENTS } from '../../protocol/audit/event-names.ts'
import { AUDIT_VIEWS, type AuditView } from '../../protocol/audit/views.ts'
import { AUDIT_PLACE, listAudit, type AuditEntry } from './list.ts'
import { ISO, iso } from '../../base/iso.ts'
import { CLIENT_ID, END, LIMIT, TIME, NEXT, ORGANIZATION_ID, USER_ID, pageStart } from '../fields.ts'
import { findNames, NAMES } from '../names.ts'
import { conflict } from '../admin-error.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import { requireUser } from '../user/user.ts'
import { verifyAudit, type AuditFault, type AuditReport, type SeenHead } from './verify.ts'

const PATH = '/admin/v1/audit'
const PLACE = z
  .string()
  .regex(AUDIT_PLACE, { error: 'This is not a position in the audit.' })
  .meta({ examples: ['01a200f2d7f100000000AbCdEfGhIjKlMn-0'] })

/** An audit event in an answer. It has ids, and no names or addresses. */
const ENTRY_DOCUMENT = z
  .object({
    id: z.string(),
    recorded_at: ISO,
    event: z.string().describe('The name of an event in docs/audit.md.'),
    client_id: z.string().nullable(),
    user_id: z.string().nullable(),
    organization_id: z.string().nullable(),
    grant_id: z.string().nullable(),
    actor: z
      .string()
      .nullable()
      .describe(
        'The administrator: command-line, library, server (what a server did by itself), or the id of the credentials or of a user with a role.',
      ),
    request_id: z.string().nullable().describe('The id of the request of a person or an administrator, as in the log.'),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  })
  .meta({ id: 'AuditEntry' })

export type AuditEntryDocument = z.output<typeof ENTRY_DOCUMENT>

/** The prefixes of event names, with the dot: `client.`. */
const FAMILIES: readonly string[] = [...new Set(AUDIT_EVENTS.map(familyOf))].toSorted()
const FILTERS: ReadonlySet<string> = new Set([...FAMILIES, ...AUDIT_EVENTS])

/** A filter of audit events. An unknown name is rejected: its list would be empty, as if nothing had happened. */
const EVENT_FILTER = z
  .string()
  .refine((text) => FILTERS.has(text), { error: ({ input }) => messageOfUnknownEvent(String(input)) })
  .meta({ enum: [...FILTERS] })
  .describe(
    'Only events of this name, or of all names that begin with it, such as `client.`; a part of a name ends with a dot.',
  )

const VIEW = z
  .enum(Object.keys(AUDIT_VIEWS) as [AuditView, ...AuditView[]])
  .describe(
    'Only the events of a question: sign-ins that failed, what people changed, clients, or what may be an attack or is about rights and keys.',
  )

const REQUEST_ID_LENGTH = 64

/** The maximum number of heads in one request, which is that of parameters in a query. */
const HEAD_LIMIT = 100
const SEEN = /^([A-Za-z0-9_-]{34}):(\d{1,9})$/
/** A chain, a colon and a sequence. */
const HEAD = z
  .string()
  .regex(SEEN, { error: 'This is not a chain, a colon and a sequence, as in the audit.head lines of a log.' })
  .meta({ examples: ['01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ:7'] })
  .transform((text): SeenHead => {
    const [, chain = '', sequence] = SEEN.exec(text) ?? []
    return { chain, sequence: Number(sequence), recordedAt: undefined }
  })

/** A link that was changed or removed. */
const FAULT_DOCUMENT = z
  .object({
    kind: z.enum(['changed', 'missing', 'cut-off', 'chain-missing']),
    link: z.string().nullable(),
    chain: z.string(),
    sequence: z.int(),
    through: z.int(),
    what: z.string(),
  })
  .meta({ id: 'AuditFault' })

const LISTED_EVENTS = z.object({ events: z.array(ENTRY_DOCUMENT), names: NAMES, next: NEXT })

export const AUDIT_TASKS: readonly Task[] = [
  defineTask({
    name: 'audit.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List audit events, newest first. A page may have fewer rows than its limit even if more rows follow.',
    input: z.object({
      limit: LIMIT,
      before: pageStart(PLACE),
      event: EVENT_FILTER.optional(),
      view: VIEW.optional(),
      client_id: CLIENT_ID.optional(),
      user_id: USER_ID.optional(),
      organization_id: ORGANIZATION_ID.optional(),
      actor: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .describe(
          'Only what this administrator or user did: command-line, library, server, or the id of a user or of credentials. Without an administrator, the user of the event did it.',
        ),
      since: TIME.optional().describe('Only events recorded at this time or later.'),
      until: END.optional().describe('Only events recorded before this time.'),
      request_id: z
        .string()
        .min(1)
        .max(REQUEST_ID_LENGTH)
        .optional()
        .describe('Only events of this request. There is no index for it: limit the search with since and until.'),
    }),
    output: LISTED_EVENTS,
    async run(
      context,
      { limit, before, event, view, actor, since, until, client_id, user_id, organization_id, request_id },
    ) {
      return listEvents(context, {
        limit,
        before,
        event,
        view,
        actor,
        since,
        until,
        requestId: request_id,
        clientId: client_id,
        userId: user_id,
        organizationId: organization_id,
      })
    },
  }),
  defineTask({
    name: 'user.list-events',
    method: 'GET',
    path: '/admin/v1/users/{user_id}/events',
    access: 'read-people',
    summary: 'List the audit events about a user, newest first. A page may have fewer rows even if more follow.',
    input: z.object({
      user_id: USER_ID,
      limit: LIMIT,
      before: pageStart(PLACE),
      view: VIEW.optional(),
      since: TIME.optional().describe('Only events recorded at this time or later.'),
      until: END.optional().describe('Only events recorded before this time.'),
    }),
    output: LISTED_EVENTS,
    async run(context, { user_id, ...page }) {
      const { id: userId } = await requireUser(context, user_id)
      return listEvents(context, { ...page, userId })
    },
  }),
  defineTask({
    name: 'audit.verify',
    method: 'GET',
    path: `${PATH}/verification`,
    access: 'read',
    mayConflict: true,
    summary: 'Verify the whole audit, and list every link that was changed or removed.',
    input: z.object({
      head: z
        .array(HEAD)
        .max(HEAD_LIMIT)
        .optional()
        .describe('Links that must exist, from the audit.head lines of a log.'),
    }),
    output: z.object({ chains: z.int(), links: z.int(), events: z.int(), faults: z.array(FAULT_DOCUMENT) }),
    async run(context, { head = [] }) {
      const { chains, links, events, faults } = await verifyAlone(context, head)
      return { chains, links, events, faults: faults.map(describeFault) }
    },
  }),
]

async function listEvents(
  context: TaskContext,
  search: Parameters<typeof listAudit>[1],
): Promise<z.output<typeof LISTED_EVENTS>> {
  const { rows, next } = await listAudit(context, search)
  const names = await findNames(context, {
    clients: rows.map((entry) => entry.clientId),
    users: rows.map((entry) => entry.userId),
    organizations: rows.map((entry) => entry.organizationId),
    actors: rows.map((entry) => entry.actor),
  })
  return { events: rows.map(describeEntry), names, next }
}

/** The servers of this process whose audit is being verified. */
const verifying = new WeakSet<TaskContext['secrets']>()

/**
 * A verification reads the whole audit, half a minute of the processor for a million links, so one runs at a time. A caller does not get the
 * result of an earlier one, which may have read a link before it was changed. @throws AdminError when another one is running
 */
async function verifyAlone(context: TaskContext, head: readonly SeenHead[]): Promise<AuditReport> {
  const { secrets } = context
  if (verifying.has(secrets)) throw conflict('Another verification is running. Try again when it has ended.')
  verifying.add(secrets)
  try {
    return await verifyAudit(context, head)
  } finally {
    verifying.delete(secrets)
  }
}

function describeEntry(entry: AuditEntry): AuditEntryDocument {
  const { id, recordedAt, event, clientId, userId, organizationId, grantId, actor, requestId, details } = entry
  return {
    id,
    recorded_at: iso(recordedAt),
    event,
    client_id: clientId ?? null,
    user_id: userId ?? null,
    organization_id: organizationId ?? null,
    grant_id: grantId ?? null,
    actor: actor ?? null,
    request_id: requestId ?? null,
    details: details ?? {},
  }
}

function describeFault(fault: AuditFault): z.output<typeof FAULT_DOCUMENT> {
  const { kind, link, chain, sequence, through } = fault
  return { kind, link: link ?? null, chain, sequence, through, what: messageOf(fault) }
}

function messageOf({ kind, link, chain, sequence, through }: AuditFault): string {
  switch (kind) {
    case 'changed':
      return `Link ${link ?? ''} was changed (chain ${chain}, sequence ${sequence}).`
    case 'missing':
      return `Chain ${chain} lacks ${rangeOf(sequence, through)}.`
    case 'cut-off':
      return `Chain ${chain} was cut off: ${rangeOf(sequence, through)} existed and is missing.`
    case 'chain-missing':
      return `Chain ${chain} is missing: ${rangeOf(sequence, through)} existed.`
  }
}

function rangeOf(first: number, last: number): string {
  return first === last ? `sequence ${first}` : `sequence ${first} to ${last}`
}

function messageOfUnknownEvent(text: string): string {
  const family = text.includes('.') ? familyOf(text) : `${text}.`
  if (!FAMILIES.includes(family)) return `There is no such event. Event names begin with: ${FAMILIES.join(', ')}`
  const words = AUDIT_EVENTS.filter((word) => familyOf(word) === family)
  return `There is no such event. The events of ${family} are: ${words.join(', ')}`
}

function familyOf(word: string): string {
  return word.slice(0, word.indexOf('.') + 1)
}
