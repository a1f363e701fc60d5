/** Personal fields, which the audit log does not keep. */
export const personalFields: ReadonlySet<string> = new Set(['firstName', 'lastName', 'jobTitle', 'phone'])
