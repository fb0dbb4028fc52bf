//! Data of the events about the repository of a folder.

use serde::{Deserialize, Serialize};

use crate::wire::Rest;

data! {
    /// Data of `git_branch_changed`.
    GitBranchChanged {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// The branch now; `None` if there is none.
        branch: Option<String>,
    }
    /// Data of `git_status_changed`: a summary of the working tree. Only the folder and the branch are
    /// there while the daemon has not counted yet.
    GitStatusChanged {
        /// The version of this object.
        #[serde(skip_serializing_if = "Option::is_none")]
        v: Option<u64>,
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// The branch; `None` if there is none.
        branch: Option<String>,
        /// Whether a commit is checked out instead of a branch.
        #[serde(skip_serializing_if = "Option::is_none")]
        detached: Option<bool>,
        /// How many files have staged changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        staged: Option<u64>,
        /// How many files have changes that are not staged.
        #[serde(skip_serializing_if = "Option::is_none")]
        unstaged: Option<u64>,
        /// How many files are not tracked.
        #[serde(skip_serializing_if = "Option::is_none")]
        untracked: Option<u64>,
        /// How many files have conflicts.
        #[serde(skip_serializing_if = "Option::is_none")]
        conflicted: Option<u64>,
        /// Whether the branch follows one elsewhere.
        #[serde(skip_serializing_if = "Option::is_none")]
        has_upstream: Option<bool>,
        /// How many commits that one does not have.
        #[serde(skip_serializing_if = "Option::is_none")]
        ahead: Option<u64>,
        /// How many commits only that one has.
        #[serde(skip_serializing_if = "Option::is_none")]
        behind: Option<u64>,
        /// How many changes are put aside.
        #[serde(skip_serializing_if = "Option::is_none")]
        stash_count: Option<u64>,
        /// What is under way, for example a merge.
        #[serde(skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
        /// When it was counted, in milliseconds since the Unix epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        computed_at: Option<u64>,
    }
    /// Data of `github_setup_completed`: workflows were written into the folder.
    GithubSetupCompleted {
        /// The release that the workflows are from.
        #[serde(skip_serializing_if = "Option::is_none")]
        release_tag: Option<String>,
        /// The page that explains them.
        #[serde(skip_serializing_if = "Option::is_none")]
        readme_url: Option<String>,
        /// The page where the repository's secrets are set.
        #[serde(skip_serializing_if = "Option::is_none")]
        secrets_url: Option<String>,
        /// The files.
        #[serde(default)]
        workflows: Vec<GithubWorkflow>,
        /// What happened to `.gitignore`.
        #[serde(skip_serializing_if = "Option::is_none")]
        gitignore: Option<GitignoreChange>,
        /// What did not go well, for people.
        #[serde(default)]
        warnings: Vec<String>,
    }
    /// A workflow file that was to be written.
    GithubWorkflow {
        /// Its path in the folder.
        path: String,
        /// `written` or `failed`.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Its size.
        #[serde(skip_serializing_if = "Option::is_none")]
        size_bytes: Option<u64>,
        /// Why it could not be written.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// What happened to `.gitignore`.
    GitignoreChange {
        /// Its path in the folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// `created`, `updated`, `unchanged`, `failed` or `skipped`.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
    }
}
