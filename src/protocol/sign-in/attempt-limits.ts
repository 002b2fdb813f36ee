/** Attempts to sign in are counted in windows of this length. */
export const ATTEMPT_WINDOW_MS = 15 * 60 * 1000
/** Passwords of an account, from browsers that are unknown to it. */
export const ACCOUNT_LIMIT = 10
/** Codes of a second step, of an account, and of each browser in which it has signed in before (NIST SP 800-63B-4 §3.2.2). */
export const CODE_LIMIT = 5
/** Attempts of a network. */
export const NETWORK_LIMIT = 20
