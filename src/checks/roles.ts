import type { ClientInspection } from '../ports/inspection.ts'
import { CONSOLE_CLIENT_ID } from '../protocol/client/console.ts'
import { roleCounts } from '../users/role.ts'
import { ok, warning, type Examination, type Finding } from './finding.ts'

const SCREEN = { path: '/console/roles', label: 'See the roles' } as const

/** Checks who may use the console: it refuses a role whose account has one factor, except while the issuer is a loopback address. */
export function checkRoles(
  { isLoopbackIssuer, delegate }: Pick<Examination['choices'], 'isLoopbackIssuer' | 'delegate'>,
  { roles, providers, consoleDisabledAt }: Pick<ClientInspection, 'roles' | 'providers' | 'consoleDisabledAt'>,
): readonly Finding[] {
  if (consoleDisabledAt !== undefined)
    return [
      warning(
        'roles',
        'The client of the console is disabled, so no user can enter the console.',
        `grantor client enable ${CONSOLE_CLIENT_ID}`,
      ),
    ]
  const live = roles.filter((role) => roleCounts(role, { isLoopbackIssuer }))
  if (live.length === 0) return []
  const weak = live.filter(({ hasSecondFactor }) => !hasSecondFactor).map(({ user }) => user)
  const isStated = providers.some(({ settings, disabledAt }) => settings.multiFactor && disabledAt === undefined)
  const message = `${live.length} ${live.length === 1 ? 'user has a role' : 'users have roles'} for the console`
  if (delegate !== undefined)
    return [
      warning(
        'roles',
        `${message}, and your application signs users in: with its credentials a program can act as each of them.`,
        'Keep these credentials as you keep those of an administrator, or end the roles: grantor role remove <user>',
        SCREEN,
      ),
    ]
  if (weak.length === 0 || isLoopbackIssuer) return [ok('roles', `${message}.`)]
  const names = weak.join(', ')
  if (isStated) return [ok('roles', `${message}; only their provider can give a second factor to: ${names}.`)]
  return [
    warning(
      'roles',
      `${message}, and the console refuses those without a second factor: ${names}.`,
      'They add an authenticator app or a passkey on their account pages. To end a role: grantor role remove <email>',
      SCREEN,
    ),
  ]
}
