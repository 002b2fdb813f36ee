import { orNull } from '../../protocol/null-meaning.ts'
import { LOCALIZED_TEXT } from '../../answers/localized-text.ts'
import * as z from 'zod'
import type { Context } from '../../ports/context.ts'
import { describeAccess } from '../../clients/access-view.ts'
import { destinationOf, type WaitingDevice } from '../../requests/device.ts'
import { needsMultiFactor } from '../../requests/step-up.ts'
import { documentHostOf, identifierOf } from '../../protocol/client/identifier.ts'
import { describeNames, nameMembersOf } from '../../protocol/client/identity.ts'
import { REJECTIONS, SUBJECT_FORM, subjectKey, type AcceptedSignIn } from '../../protocol/sign-in/interaction.ts'
import { revokeTokensOfSubject } from '../user/subject.ts'
import { ISO, ISO_OR_NULL, iso, isoOrNull } from '../../base/iso.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { EMAIL, GROUP_ID, NAME, ORGANIZATION_ID, SCOPE, TIME } from '../fields.ts'
import { answerInteraction, findWithheld, showInteraction, type ShownInteraction } from './interaction.ts'
import { METADATA_MEMBERS } from '../client/document.ts'
import { defineTask, type Task } from '../task.ts'

const INTERACTION_PATH = '/admin/v1/interactions/{interaction}'
const INTERACTION = z
  .string()
  .regex(/^gin_[A-Za-z0-9_-]+$/, { error: 'This is not an interaction.' })
  .meta({ examples: [`gin_${'A'.repeat(99)}`], description: 'The value of `interaction` in the address of your page.' })
const ONE = z.object({ interaction: INTERACTION })
const SUBJECT = z
  .string()
  .regex(SUBJECT_FORM, { error: 'A subject has 1 to 255 characters of ASCII without spaces, and is not . or ..' })
  .meta({
    examples: ['u_4711'],
    description: 'Your id of the person, which never becomes that of another person: 1 to 255 characters of ASCII.',
  })

const DESTINATION = z
  .object({
    kind: z.enum(['host', 'this-computer', 'app', 'device']),
    host: z.string().nullable(),
    scheme: z.string().nullable(),
  })
  .describe(
    'Where the browser goes after the consent: to a host, to a program on this computer, or to the app that opens a scheme. device: nowhere, the access is for the device of `device`.',
  )

const CLIENT = z.object({
  client_id: z.string(),
  ...nameMembersOf(METADATA_MEMBERS),
  client_name: z.string().nullable().describe('Chosen by the client: show it together with the destination.'),
  trust_level: z
    .enum(['verified', 'known-domain', 'unverified'])
    .describe('unverified: the identity of the client was not checked, and the page has to say so.'),
  registered_at: ISO,
  document_host: z.string().nullable().describe('The host of its metadata document; null: it has none.'),
  destination: DESTINATION,
})

const DEVICE = z
  .object({
    user_code: z.string().describe('The code that the person typed. Ask whether the device shows it now.'),
    asked_at: ISO,
    network: z.string().describe('The address from which the device asked.'),
    is_same_network: z
      .boolean()
      .describe('false: the browser has another address. Warn the person, and ask whether the device is an own one.'),
  })
  .describe('Show all of it: a person who sends the code to another one asks for the access of that one.')

const INTERACTION_DOCUMENT = z
  .object({
    interaction: z.string(),
    purpose: z
      .enum(['authorization', 'account'])
      .describe('authorization: a client asks for access. account: the person opens an account page of this server.'),
    expires_at: ISO,
    answered: z.enum(['accepted', 'rejected']).nullable(),
    client: CLIENT.nullable().describe('null: no client asks.'),
    device: DEVICE.nullable().describe('The device that gets the access; null: the client has sent the browser.'),
    scopes: z.array(z.object({ name: z.string(), sentences: z.array(LOCALIZED_TEXT) })),
    withheld: z
      .array(
        z.object({
          scope: z.string().nullable().describe('null: an API without scopes, or a request without scope.'),
          rule: z.string().describe('The id of the access rule.'),
          sentence: z.string().nullable().describe('What the rule says to the person.'),
        }),
      )
      .nullable()
      .describe(
        'What access rules leave out for the person of `subject`: show it without a box. If nothing is left, accept gives the client access_denied. null: `subject` is missing.',
      ),
    resources: z.array(z.object({ resource: z.string(), name: LOCALIZED_TEXT.nullable() })),
    organization_id: z
      .string()
      .nullable()
      .describe('The organization that the client asks for; null: the person chooses.'),
    login_hint: z
      .string()
      .nullable()
      .describe('The user whom the client expects. The hint is not verified: any link to this server can have one.'),
    ui_locales: z.array(z.string()).describe('The languages that the person prefers.'),
    prompt: z.array(z.enum(['login', 'consent'])),
    sign_in_after: ISO_OR_NULL.describe(
      'The person must authenticate after this time, even if your application has a session of the person.',
    ),
    multi_factor_needed: z
      .boolean()
      .describe('Whether the client, or a scope, asks for a sign-in with two factors: ask the person for them.'),
  })
  .meta({ id: 'Interaction' })

const ANSWERED = z
  .object({ redirect_to: z.url().describe('Redirect the browser of the person to this address.') })
  .meta({ id: 'AnsweredInteraction' })

const ACCEPTED = ANSWERED.extend({
  user_id: z
    .string()
    .nullable()
    .describe(
      'The id of the person here, which tokens have as `sub`. null: the account was deleted since the first answer.',
    ),
}).meta({ id: 'AcceptedInteraction' })

const ACCEPTANCE = ONE.extend({
  subject: SUBJECT,
  decision: z
    .enum(['allow', 'ask'])
    .describe('allow: the person has consented on your page. ask: the consent page of this server follows.'),
  email: EMAIL.optional().describe(
    'The e-mail address of the person. An address that another account has is not used.',
  ),
  email_verified: z.boolean().default(false).describe('Whether you know that the address is that of the person.'),
  name: NAME.optional().describe('The name of the person, as pages show it.'),
  groups: z
    .array(GROUP_ID)
    .max(MAXIMA.groupsOfAnswer.most)
    .optional()
    .describe(
      'The groups in which the person is, as your application says it: those of earlier answers that are not in the list end. Without it they stay.',
    ),
  organization_id: orNull(
    ORGANIZATION_ID,
    'The organization for which the person consents. Without it, a person who belongs to organizations chooses on the consent page of this server.',
    'none',
  ),
  scope: SCOPE.optional().describe('The part of the requested scope that the person allows; by default all of it.'),
  authenticated_at: TIME.optional().describe(
    'When the person authenticated. Without it, the time is unknown, or with sign_in_after that of your answer.',
  ),
  own_device: z
    .boolean()
    .default(false)
    .describe(
      'Whether the person confirmed on your page that the device of the request is an own one. Without it, the consent page of this server follows for a device.',
    ),
  multi_factor: z.boolean().default(false).describe('Whether the person authenticated with two factors at that time.'),
  remember_seconds: z
    .int()
    .min(0)
    .default(0)
    .describe('How long the browser stays signed in at this server, at most GRANTOR_SESSION_LIFETIME.'),
})

/** The tasks of the application that signs users in. */
export const INTERACTION_TASKS: readonly Task[] = [
  defineTask({
    name: 'interaction.show',
    method: 'GET',
    path: INTERACTION_PATH,
    access: 'delegate',
    summary: 'Show what a person has to decide.',
    input: ONE.extend({ subject: SUBJECT.optional() }),
    output: INTERACTION_DOCUMENT,
    async run(context, { interaction, subject }) {
      const shown = await showInteraction(context, interaction)
      return describeInteraction(context, interaction, shown, await findWithheld(context, shown, subject))
    },
  }),
  defineTask({
    name: 'interaction.accept',
    method: 'POST',
    path: `${INTERACTION_PATH}/accept`,
    access: 'delegate',
    summary:
      'Report who the person is, and whether the client may have access. A repeated request gets the same answer.',
    input: ACCEPTANCE,
    output: ACCEPTED,
    async run(context, { interaction, ...accepted }) {
      const redirect_to = await answerInteraction(context, interaction, acceptanceOf(accepted))
      const identity = await context.store.findIdentity(subjectKey(accepted.subject))
      return { redirect_to, user_id: identity?.userId ?? null }
    },
  }),
  defineTask({
    name: 'interaction.reject',
    method: 'POST',
    path: `${INTERACTION_PATH}/reject`,
    access: 'delegate',
    summary: 'End the request of the client with an error.',
    input: ONE.extend({
      error: z
        .enum(REJECTIONS)
        .default('access_denied')
        .describe('The error for the client (RFC 6749 §4.1.2.1). access_denied: the person declined.'),
    }),
    output: ANSWERED,
    run: async (context, { interaction, error }) => ({
      redirect_to: await answerInteraction(context, interaction, { kind: 'rejected', error }),
    }),
  }),
  defineTask({
    name: 'subject.revoke-tokens',
    method: 'POST',
    path: '/admin/v1/subjects/{subject}/revoke-tokens',
    access: 'delegate',
    summary: 'End all sessions and grants of a person, for example because you disabled the account.',
    input: z.object({ subject: SUBJECT }),
    output: z.object({ subject: z.string(), revoked: z.literal(true) }),
    async run(context, { subject }) {
      await revokeTokensOfSubject(context, subject)
      return { subject, revoked: true as const }
    },
  }),
]

function acceptanceOf(accepted: Omit<z.output<typeof ACCEPTANCE>, 'interaction'>): AcceptedSignIn {
  const { subject, decision, email, name, scope } = accepted
  return {
    kind: 'accepted',
    subject,
    decision,
    email,
    isEmailVerified: accepted.email_verified,
    name,
    groups: accepted.groups && [...new Set(accepted.groups)].toSorted(),
    organizationId: accepted.organization_id,
    scope,
    authenticatedAt: accepted.authenticated_at,
    isMultiFactor: accepted.multi_factor,
    rememberSeconds: accepted.remember_seconds,
    ...(accepted.own_device ? { isOwnDevice: true as const } : {}),
  }
}

async function describeInteraction(
  { apis }: Context,
  token: string,
  { interaction, purpose }: ShownInteraction,
  withheld: z.output<typeof INTERACTION_DOCUMENT>['withheld'],
): Promise<z.output<typeof INTERACTION_DOCUMENT>> {
  const { expiresAt, answer, uiLocales, signInAfter } = interaction
  const common = {
    interaction: token,
    purpose: purpose.kind,
    expires_at: iso(expiresAt),
    answered: answer?.kind ?? null,
    ui_locales: (uiLocales ?? '').split(' ').filter((language) => language !== ''),
    sign_in_after: isoOrNull(signInAfter),
    withheld,
  }
  if (purpose.kind === 'account') {
    const nothing = {
      multi_factor_needed: false,
      client: null,
      device: null,
      scopes: [],
      resources: [],
      organization_id: null,
      login_hint: null,
      prompt: [],
    }
    return { ...common, ...nothing }
  }
  const { authorization, device } = purpose
  const declared = await apis()
  const { scopes, resources } = describeAccess(declared, authorization)
  const login = authorization.mustSignIn ? (['login'] as const) : []
  const consent = authorization.mustConsent ? (['consent'] as const) : []
  return {
    ...common,
    multi_factor_needed: needsMultiFactor(declared, authorization),
    client: describeClient(purpose),
    device: describeDevice(device),
    scopes: scopes.map(({ name, sentences }) => ({ name, sentences: [...sentences] })),
    resources: resources.map(({ identifier, name }) => ({ resource: identifier, name: name ?? null })),
    organization_id: authorization.organizationId ?? null,
    login_hint: authorization.loginHint ?? null,
    prompt: [...login, ...consent],
  }
}

function describeClient({
  client,
  rights,
  authorization,
}: Extract<ShownInteraction['purpose'], { readonly kind: 'authorization' }>): z.output<typeof CLIENT> {
  const destination = destinationOf(authorization)
  return {
    client_id: identifierOf(client),
    ...describeNames(client.metadata),
    trust_level: rights.trust.level,
    registered_at: new Date(client.issuedAt * 1000).toISOString(),
    document_host: documentHostOf(client) ?? null,
    destination: {
      kind: destination.kind,
      host: 'host' in destination ? destination.host : null,
      scheme: 'scheme' in destination ? destination.scheme : null,
    },
  }
}

function describeDevice(device: WaitingDevice | undefined): z.output<typeof DEVICE> | null {
  if (device === undefined) return null
  const { userCode, createdAt, network, isSameNetwork } = device
  return { user_code: userCode, asked_at: iso(createdAt), network, is_same_network: isSameNetwork }
}
