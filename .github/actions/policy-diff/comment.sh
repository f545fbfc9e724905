#!/usr/bin/env bash
# Says in one comment of a pull request what it changes in the behaviour of rule files.
#
# PATHS      rule files and folders, parted by spaces
# BASE       the revision to compare with
# FAIL_ON    loosens, different, or empty: when to fail
# PULL       the number of the pull request; without one there is no comment
# GH_TOKEN   for gh; GITHUB_REPOSITORY, GITHUB_OUTPUT and GITHUB_STEP_SUMMARY as GitHub sets them
#
# Exits with 0; with 1 when the change does what FAIL_ON says; with 2 when there is nothing to compare.
set -uo pipefail

readonly MARK='<!-- reknit-policy-diff -->'
readonly MOST=60000 # characters of a comment, which may have 65536

paths=()
read -ra paths <<< "${PATHS:-rules}"
fail_on="${FAIL_ON:-}"
case "$fail_on" in
  '' | loosens | different) ;;
  *)
    echo "::error::fail-on is loosens, different or empty, not '$fail_on'"
    exit 2
    ;;
esac
if [[ -z "${BASE:-}" ]]; then
  echo "::error::no revision to compare with: this is no pull request, and no base is given"
  exit 2
fi
if ! git rev-parse --verify --quiet "$BASE^{commit}" > /dev/null; then
  # A checkout of one commit does not have the base.
  git fetch --quiet --no-tags --depth=1 origin "$BASE" || true
fi
if ! git rev-parse --verify --quiet "$BASE^{commit}" > /dev/null; then
  git rev-parse --verify --quiet "FETCH_HEAD^{commit}" > /dev/null && BASE=$(git rev-parse FETCH_HEAD)
fi

report=$(mktemp)
comment=$(mktemp)
trap 'rm -f "$report" "$comment"' EXIT

options=(--format markdown)
[[ "$fail_on" == loosens ]] && options+=(--fail-on loosens)
reknit diff "$BASE.." "${options[@]}" -- "${paths[@]}" > "$report"
code=$?
# A program that breaks down ends with 1 as well, and has nothing to report.
((code)) && [[ ! -s "$report" ]] && code="$code, without a report"
case $code in
  0) result=same ;;
  1) result=different ;;
  3) result=loosens ;;
  *)
    echo "::error::reknit diff could not compare $BASE with this checkout (exit code $code)"
    exit 2
    ;;
esac
[[ -n "${GITHUB_OUTPUT:-}" ]] && echo "result=$result" >> "$GITHUB_OUTPUT"

{
  echo "$MARK"
  if [[ "$result" == same ]]; then
    echo "Rules behave as before."
  else
    head -c "$MOST" "$report"
    if (($(wc -c < "$report") > MOST)); then
      printf '\n\nThere is more; `reknit diff` shows all of it.\n'
    fi
  fi
} > "$comment"
[[ -n "${GITHUB_STEP_SUMMARY:-}" ]] && cat "$comment" >> "$GITHUB_STEP_SUMMARY"

say() {
  local comments="repos/$GITHUB_REPOSITORY/issues/$PULL/comments" known
  known=$(
    gh api --paginate "$comments" \
      --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$MARK\"))) | .id"
  ) || return
  known=${known%%$'\n'*}
  if [[ -n "$known" ]]; then
    gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$comment"
  elif [[ "$result" != same ]]; then
    gh api --silent --method POST "$comments" --field "body=@$comment"
  fi
}

if [[ -n "${PULL:-}" ]]; then
  # A pull request from a fork may not write; what there is to say stands in the summary.
  say || echo "::warning::the comment could not be written; see the summary of this job"
fi

if [[ "$result" == loosens && -n "$fail_on" ]] || [[ "$result" == different && "$fail_on" == different ]]; then
  echo "::error::the change is $result, and fail-on is $fail_on"
  exit 1
fi
exit 0
