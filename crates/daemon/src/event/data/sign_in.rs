//! Data of the events about a sign-in with a code (device flow), in which the daemon's user confirms in a
//! browser.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::wire::Rest;

data! {
    /// Data of `auth_device_flow_started`.
    DeviceFlowStarted {
        /// The sign-in.
        device_flow_id: String,
        /// Where the person signs in.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider_id: Option<String>,
        /// When the code is no longer good, in milliseconds since the Unix epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        expires_at: Option<u64>,
    }
    /// Data of `auth_device_flow_throttled`: the provider wants to be asked less often.
    DeviceFlowThrottled {
        /// The sign-in.
        device_flow_id: String,
        /// How long the daemon waits between two questions.
        #[serde(skip_serializing_if = "Option::is_none")]
        interval_ms: Option<u64>,
    }
    /// Data of `auth_device_flow_failed`.
    DeviceFlowFailed {
        /// The sign-in.
        device_flow_id: String,
        /// The daemon's class of error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_kind: Option<String>,
        /// What the person can do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    }
    /// Data of `auth_device_flow_cancelled`.
    DeviceFlowCancelled {
        /// The sign-in.
        device_flow_id: String,
    }
}

/// Data of `auth_device_flow_authorized`. Its `Debug` does not show whose account it is.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeviceFlowAuthorized {
    /// The sign-in.
    pub device_flow_id: String,
    /// Where the person signed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Until when it is good, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
    /// The name of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_alias: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl fmt::Debug for DeviceFlowAuthorized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceFlowAuthorized")
            .field("device_flow_id", &self.device_flow_id)
            .field("provider_id", &self.provider_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
