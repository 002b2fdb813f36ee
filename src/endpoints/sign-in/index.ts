import type { Endpoint } from '../endpoint.ts'
import { PATHS } from '../paths.ts'
import { continueSignIn } from './continue.ts'
import { leaveForApplication } from './leave.ts'
import { showSignIn } from './page.ts'
import { signInByPassword } from './password.ts'

/** The sign-in page, and the endpoints of the sign-in methods. */
export const SIGN_IN_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'sign-in',
    method: 'GET',
    path: PATHS.signIn,
    audience: 'page',
    unlimited: 'It needs a pending authorization request, which the endpoint authorize limits.',
    run: showSignIn,
  },
  {
    name: 'leave',
    method: 'GET',
    path: PATHS.leave,
    audience: 'page',
    budgets: ['authorization'],
    run: leaveForApplication,
  },
  {
    name: 'continue',
    method: 'GET',
    path: PATHS.continueSignIn,
    audience: 'page',
    unlimited: "It does something only once for an answer of the operator's application.",
    run: continueSignIn,
  },
  {
    name: 'sign-in',
    method: 'POST',
    path: PATHS.signIn,
    accepts: 'application/x-www-form-urlencoded',
    audience: 'page',
    budgets: ['sign-in'],
    run: signInByPassword,
  },
]
