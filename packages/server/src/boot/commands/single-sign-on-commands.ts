import type { OperatorCommand } from './operator-command.ts'

export const optionalSingleSignOnCommand: OperatorCommand = {
  name: 'sso optional',
  summary:
    'Makes single sign-on of a company optional, when its identity provider is unavailable: passwords work again.',
  options: {
    company: {
      value: 'ID',
      description: 'Whose single sign-on; not needed where there is one company only',
    },
  },
  async run(values, { accounts, singleSignOn }) {
    const companyId = await accounts.resolveCompany(values.get('company'))
    const { wasMandatory } = await singleSignOn.makeOptionalByOperator(companyId)
    const line = wasMandatory
      ? `Single sign-on is no longer required in ${companyId}: passwords work again.`
      : `Single sign-on was not required in ${companyId}; nothing has changed.`
    return { data: { companyId, wasMandatory, mandatory: false }, lines: [line] }
  },
}
