// SPDX-License-Identifier: GPL-2.0-or-later
use idlelab_states::{IdleStates, StateIndex};

use crate::clairvoyant::Clairvoyant;
use crate::fixed::Fixed;
use crate::haltpoll::Haltpoll;
use crate::history::{
    ladder_fixed, menu as menu_5_10, menu_4_5, teo_5_1, teo_5_14, teo_6_6, teo_6_14, teo_6_19,
};
use crate::ladder::Ladder;
use crate::menu::Menu;
use crate::reason::Reason;
use crate::teo::Teo;
use crate::{Device, Governor, Kernel, Metric, Selection};

/// Any governor of the catalogue, without allocation.
#[derive(Clone, Debug)]
pub enum AnyGovernor {
    /// [`teo`](crate::teo).
    Teo(Teo),
    /// [`teo` of 6.19 and 7.0](crate::history::teo_6_19).
    Teo6_19(teo_6_19::Teo),
    /// [`teo` of 6.14](crate::history::teo_6_14), as released or over-eager.
    Teo6_14(teo_6_14::Teo),
    /// [`teo` of 6.6 to 6.13](crate::history::teo_6_6).
    Teo6_6(teo_6_6::Teo),
    /// [`teo` of 5.14 to 6.5](crate::history::teo_5_14).
    Teo5_14(teo_5_14::Teo),
    /// [`teo` up to 5.12](crate::history::teo_5_1).
    Teo5_1(teo_5_1::Teo),
    /// [`menu`](crate::menu).
    Menu(Menu),
    /// [`menu` of 5.10 to 7.0](crate::history::menu).
    Menu5_10(menu_5_10::Menu),
    /// [`menu` of 4.5 and 4.6](crate::history::menu_4_5).
    Menu4_5(menu_4_5::Menu),
    /// [`ladder`](crate::ladder).
    Ladder(Ladder),
    /// [`ladder` with the patches of 2022](crate::history::ladder_fixed).
    LadderFixed(ladder_fixed::Ladder),
    /// [`haltpoll`](crate::haltpoll).
    Haltpoll(Haltpoll),
    /// [One state, or the deepest](crate::fixed).
    Fixed(Fixed),
    /// [`clairvoyant`](crate::clairvoyant).
    Clairvoyant(Clairvoyant),
}

macro_rules! whichever {
    ($any:expr, $governor:ident => $call:expr) => {
        match $any {
            AnyGovernor::Teo($governor) => $call,
            AnyGovernor::Teo6_19($governor) => $call,
            AnyGovernor::Teo6_14($governor) => $call,
            AnyGovernor::Teo6_6($governor) => $call,
            AnyGovernor::Teo5_14($governor) => $call,
            AnyGovernor::Teo5_1($governor) => $call,
            AnyGovernor::Menu($governor) => $call,
            AnyGovernor::Menu5_10($governor) => $call,
            AnyGovernor::Menu4_5($governor) => $call,
            AnyGovernor::Ladder($governor) => $call,
            AnyGovernor::LadderFixed($governor) => $call,
            AnyGovernor::Haltpoll($governor) => $call,
            AnyGovernor::Fixed($governor) => $call,
            AnyGovernor::Clairvoyant($governor) => $call,
        }
    };
}

impl Governor for AnyGovernor {
    fn enable(&mut self, states: &IdleStates, device: &mut Device) {
        whichever!(self, governor => governor.enable(states, device));
    }

    fn select(&mut self, states: &IdleStates, kernel: &mut dyn Kernel) -> Selection {
        whichever!(self, governor => governor.select(states, kernel))
    }

    fn select_with_reasons(
        &mut self,
        states: &IdleStates,
        kernel: &mut dyn Kernel,
        reasons: &mut dyn FnMut(Reason),
    ) -> Selection {
        whichever!(self, governor => governor.select_with_reasons(states, kernel, reasons))
    }

    #[inline(always)]
    fn reflect(&mut self, entered: StateIndex, kernel: &mut dyn Kernel) {
        whichever!(self, governor => governor.reflect(entered, kernel));
    }

    fn explain(&self, metrics: &mut dyn FnMut(Metric)) {
        whichever!(self, governor => governor.explain(metrics));
    }
}
