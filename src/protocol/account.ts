/** Characters. RFC 5321 §4.5.3.1.3 leaves room for no more. */
export const EMAIL_LIMIT = 254

/** One spelling for every way to type an address. '' when it cannot be one. */
export function normalizeEmail(text: string): string {
  const email = text.trim().normalize('NFKC').toLowerCase()
  return email.length <= EMAIL_LIMIT && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) ? email : ''
}
